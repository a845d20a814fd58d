// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../../errors.ts";
import type { YamlEntry, YamlMapping, YamlNode } from "../../yaml/index.ts";
import { type ConfigDocument, entryText, isOfUnknownKind } from "../document/config-file.ts";
import { isSection, type Section, type Value } from "../document/value.ts";
import { type FieldType, type Struct, structOf } from "../schema/schema.ts";

/** `$patch: delete` found in a patch: what to delete, and in which document. */
export interface DeleteDirective {
  readonly kind: string;
  readonly apiVersion: string;
  /** Of a named document. */
  readonly name: string;
  /** Empty when the whole document goes. */
  readonly path: readonly string[];
  /** For a list element: the field and its value that select it. */
  readonly selector?: Selector | undefined;
}

interface Selector {
  readonly key: string;
  /** Absent where it is more than one word; nothing is found by that. */
  readonly value?: string | undefined;
}

export interface Extracted {
  readonly directives: readonly DeleteDirective[];
  /** What is left of the document without the directives; undefined when nothing is. */
  readonly rest: YamlNode | undefined;
}

/** Takes the delete directives out of one document of a patch. */
export function extractDeletes(document: YamlNode): Extracted {
  if (document.kind !== "mapping") return { directives: [], rest: document };
  const extractor = new Extractor(document);
  const rest = extractor.strip(document, [], "document");
  const nothingLeft = rest?.kind === "mapping" && rest.entries.every(isIdentity);
  return { directives: extractor.directives, rest: nothingLeft ? undefined : rest };
}

function isIdentity(entry: YamlEntry): boolean {
  return entry.value.kind === "scalar" && ["version", "kind", "name"].includes(entry.key.text);
}

type Parent = "document" | "mapping" | "sequence";

class Extractor {
  readonly directives: DeleteDirective[] = [];
  readonly #root: YamlMapping;

  constructor(root: YamlMapping) {
    this.#root = root;
  }

  /** The node without what is to be deleted; undefined when it goes as a whole. */
  strip(node: YamlNode, path: readonly string[], parent: Parent): YamlNode | undefined {
    if (node.kind === "scalar") return node;
    if (node.kind === "sequence") {
      const items = node.items
        .map((item, index) => this.strip(item, [...path, `[${index}]`], "sequence"))
        .filter((item) => item !== undefined);
      return items.length === 0 && node.items.length > 0 ? undefined : { ...node, items };
    }
    if (node.entries.some(isDelete)) {
      this.#add(node, path, parent);
      return undefined;
    }
    const entries = node.entries.flatMap((entry) => {
      const value = this.strip(entry.value, [...path, entry.key.text], "mapping");
      return value === undefined ? [] : [{ key: entry.key, value }];
    });
    return entries.length === 0 && node.entries.length > 0 ? undefined : { ...node, entries };
  }

  #add(node: YamlMapping, path: readonly string[], parent: Parent): void {
    if (parent !== "sequence" && path.some((step) => step.startsWith("["))) {
      throw fault(this.#root, `cannot delete an inner key in '${path.join(".")}'`);
    }
    const [apiVersion, kind] = [entryText(this.#root, "apiVersion"), entryText(this.#root, "kind")];
    if (path.length === 0) {
      const missing = apiVersion === "" ? "apiVersion" : kind === "" ? "kind" : undefined;
      if (missing !== undefined) {
        throw fault(this.#root, `missing ${missing} in document for which $patch: delete is used`);
      }
    }
    if ((apiVersion === "") !== (kind === "")) {
      throw fault(this.#root, `kind and apiVersion must be both set for path ${path.join(".")}`);
    }
    this.directives.push({
      kind: kind === "" ? "v1alpha1" : kind,
      apiVersion,
      name: entryText(this.#root, "name"),
      path,
      selector: parent === "sequence" ? this.#selector(node, path) : undefined,
    });
  }

  #selector(node: YamlMapping, path: readonly string[]): Selector {
    const entry = node.entries.find((candidate) => !isDelete(candidate));
    if (entry === undefined) {
      throw fault(this.#root, `no key:val found in sequence node for path ${path.join(".")}`);
    }
    return { key: entry.key.text, value: entry.value.kind === "scalar" ? entry.value.text : undefined };
  }
}

function isDelete(entry: YamlEntry): boolean {
  return entry.key.text === "$patch" && entry.value.kind === "scalar" && entry.value.text === "delete";
}

function fault(root: YamlMapping, message: string): TalosError {
  return new TalosError("invalid-input", `error processing patch delete statements at line ${root.line}: ${message}`, {
    hint: 'Put "$patch: delete" under a field, a map key or a list element of the config.',
  });
}

/** Deletes a field, map key or list element. Throws when the way to it does not exist. */
export function deleteInDocument(document: ConfigDocument, directive: DeleteDirective): void {
  const path = directive.path.join(".");
  const type: FieldType = isOfUnknownKind(document)
    ? { kind: "object" }
    : { kind: "struct", name: document.struct.name };
  if (deleteAt(document.section, type, directive.path, directive)) return;
  const place = `path '${path}' in document '${document.apiVersion}/${document.kind}'`;
  throw new TalosError("invalid-input", `patch delete: ${place}: failed to delete path '${path}': lookup failed`, {
    hint: `The config has nothing at ${path}; leave the directive out.`,
  });
}

function deleteAt(value: Value, type: FieldType, path: readonly string[], directive: DeleteDirective): boolean {
  const [step = "", ...rest] = path;
  switch (type.kind) {
    case "pointer":
      return deleteAt(value, type.to, path, directive);
    case "struct":
      return isSection(value) && deleteField(value, structOf(type.name), step, rest, directive);
    case "map":
    case "args":
    case "object":
      return isSection(value) && deleteKey(value, type, step, rest, directive);
    case "list":
      return Array.isArray(value) && deleteElement(value, directive);
    case "scalar":
    case "enum":
      return false;
  }
}

function deleteField(
  section: Section,
  struct: Struct,
  key: string,
  rest: readonly string[],
  directive: DeleteDirective,
): boolean {
  const field = struct.byKey.get(key);
  if (field === undefined) return false;
  if (rest.length === 0) {
    section.delete(key);
    return true;
  }
  const inner = section.get(key);
  // A section that is not held by pointer exists even when nothing in it is set.
  if (inner === undefined) return field.type.kind === "struct" && rest.length === 1;
  return deleteAt(inner, field.type, rest, directive);
}

function deleteKey(
  section: Section,
  type: FieldType,
  key: string,
  rest: readonly string[],
  directive: DeleteDirective,
): boolean {
  const inner = section.get(key);
  if (inner === undefined) return false;
  if (rest.length === 0) return section.delete(key);
  const innerType = type.kind === "map" ? type.of : Array.isArray(inner) ? ({ kind: "list", of: type } as const) : type;
  return deleteAt(inner, innerType, rest, directive);
}

function deleteElement(list: Value[], { selector }: DeleteDirective): boolean {
  if (selector?.value === undefined) return false;
  const index = list.findIndex((item) => isSection(item) && String(item.get(selector.key) ?? "") === selector.value);
  if (index < 0) return false;
  list.splice(index, 1);
  return true;
}
