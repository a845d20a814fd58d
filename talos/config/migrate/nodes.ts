// SPDX-License-Identifier: Apache-2.0
// Pieces of a patch as nodes of the yaml package, which keep their comments, quotes and layout when they are moved.
import {
  Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Node,
  Pair,
  parseAllDocuments,
  Scalar,
  visit,
  YAMLMap,
  YAMLSeq,
} from "yaml";

/** Every scalar stays the text that it is: `0755` and `yes` are written again as they were. */
const asWritten = { schema: "failsafe", keepSourceTokens: false, uniqueKeys: false } as const;

export type Entry = Pair<Scalar<string>, Node> & { value: Node };

/** The top of each document of a text. Empty documents are left out. */
export function patchNodes(text: string): readonly Node[] {
  const documents = parseAllDocuments(text, asWritten);
  return documents.flatMap(({ contents, commentBefore }) => {
    if (!isNode(contents) || (isScalar(contents) && contents.value === "")) return [];
    if (commentBefore) contents.commentBefore = [commentBefore, contents.commentBefore].filter(Boolean).join("\n");
    return [contents];
  });
}

/** The documents as one text. */
export function writeNodes(nodes: readonly Node[], options: { readonly indent?: number } = {}): string {
  const texts = nodes.map((node) => new Document(node, asWritten).toString({ lineWidth: 0, ...options }));
  return texts.join("---\n");
}

export function entriesOf(node: unknown): readonly Entry[] {
  return isMap(node) ? (node.items.filter(({ key, value }) => isScalar(key) && isNode(value)) as Entry[]) : [];
}

export function entryAt(node: unknown, key: string): Entry | undefined {
  return entriesOf(node).find((entry) => entry.key.value === key);
}

export function childAt(node: unknown, key: string): Node | undefined {
  return entryAt(node, key)?.value;
}

export function itemsOf(node: unknown): readonly Node[] {
  return isSeq(node) ? node.items.filter(isNode) : [];
}

/** The text of a scalar; empty for anything else. */
export function textOf(node: unknown): string {
  return isScalar(node) && typeof node.value === "string" ? node.value : "";
}

/** `{ $patch: delete }`, by itself or with what selects an element. */
export function isDeletion(node: unknown): boolean {
  return textOf(childAt(node, "$patch")) === "delete";
}

export function deletion(): YAMLMap {
  return mapOf([["$patch", text("delete")]]);
}

export function text(value: string): Scalar<string> {
  return new Scalar(value);
}

export function mapOf(entries: readonly (readonly [string, Node])[]): YAMLMap {
  const map = new YAMLMap();
  for (const [key, value] of entries) map.add(new Pair(text(key), value));
  return map;
}

export function listOf(items: readonly Node[], like?: unknown): YAMLSeq {
  const list = new YAMLSeq();
  list.items.push(...items);
  if (isSeq(like)) {
    list.commentBefore = like.commentBefore ?? null;
    list.comment = like.comment ?? null;
  }
  return list;
}

export function removeEntry(map: YAMLMap, entry: Entry): void {
  map.items.splice(map.items.indexOf(entry), 1);
}

/** Whether it uses anchors, aliases, merge keys or tags: then a part of it cannot be moved by itself. */
export function isEntangled(node: Node): boolean {
  let found = false;
  visit(node, {
    Node(key, inner) {
      if (isAlias(inner) || ("anchor" in inner && inner.anchor) || inner.tag) found = true;
      if (key === "key" && textOf(inner) === "<<") found = true;
      return found ? visit.BREAK : undefined;
    },
  });
  return found;
}

/** Puts a value at a path of maps, which are made where they are absent. False when something stands there already. */
export function putAt(root: YAMLMap, path: readonly string[], value: Node, comment?: string | null): boolean {
  const [key = "", ...rest] = path;
  const known = entryAt(root, key);
  if (rest.length > 0) {
    if (known !== undefined && (!isMap(known.value) || isDeletion(known.value))) return false;
    const inner = isMap(known?.value) ? known.value : new YAMLMap();
    if (known === undefined) root.add(new Pair(text(key), inner));
    return putAt(inner, rest, value, comment);
  }
  if (known !== undefined) return false;
  const name = text(key);
  if (comment) name.commentBefore = comment;
  root.add(new Pair(name, value));
  return true;
}
