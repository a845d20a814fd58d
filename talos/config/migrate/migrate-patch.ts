// SPDX-License-Identifier: Apache-2.0
import { isMap, isSeq, type Node, type YAMLMap } from "yaml";
import { TalosError } from "../../errors.ts";
import type { MachineType } from "../cluster-config.ts";
import { parsePatch, patchDocuments } from "../patch/apply.ts";
import { configRules } from "../rules.ts";
import { controlPlaneOnly } from "../validate/whole-config.ts";
import { asPiece } from "./json-operations.ts";
import { kubernetesRules } from "./kubernetes-rules.ts";
import { machineRules } from "./machine-rules.ts";
import {
  childAt,
  type Entry,
  entriesOf,
  entryAt,
  isDeletion,
  isEntangled,
  mapOf,
  putAt,
  removeEntry,
  text,
  textOf,
  writeNodes,
} from "./nodes.ts";
import { type MigrationTarget, nothing, type Outcome, type Placement, type Rule } from "./rules.ts";
import { valueRules } from "./value-rules.ts";

/** A setting of a patch that has another place now. */
export interface MovedPart {
  /** In the v1alpha1 document. */
  readonly path: string;
  /** Where in its text; undefined when that is not known. */
  readonly offset: number | undefined;
  /** Documents and paths in them, such as `KubeletConfig.extraArgs`; empty when the newer form implies it. */
  readonly to: readonly string[];
}

/** A setting that stays in the v1alpha1 document. */
export interface LeftPart {
  readonly path: string;
  readonly offset: number | undefined;
  readonly reason: string;
}

export interface MigratedPatch {
  /** The documents of the patch as they should be, for all machines that it is for. */
  readonly documents: readonly Node[];
  /** What of it only control planes may have, where the patch is for workers, too. */
  readonly controlPlane: readonly Node[];
  /** Empty when the patch can stay as it is, to the last byte. */
  readonly moved: readonly MovedPart[];
  readonly left: readonly LeftPart[];
}

/**
 * A patch in the form of a newer contract: what the contract keeps in documents of their own is taken out of the
 * v1alpha1 piece, with its comments. The nodes are changed.
 */
export function migratePatch(
  nodes: readonly Node[],
  roles: readonly MachineType[],
  target: MigrationTarget,
): MigratedPatch {
  return new Migration(nodes, roles, target).run();
}

/**
 * What the next patch of the same machines is moved into: what one patch deletes, the next cannot delete again. A patch
 * that does not fit changes nothing; that shows when the configs are made.
 */
export function afterPatch(
  target: MigrationTarget,
  roles: readonly MachineType[],
  { documents, controlPlane }: MigratedPatch,
): MigrationTarget {
  const patched = (role: MachineType) => {
    if (!roles.includes(role)) return target.base[role];
    const own = role === "controlplane" ? [documents, controlPlane] : [documents];
    const rules = configRules(target.contract);
    try {
      return patchDocuments(
        target.base[role],
        own.map((nodes) => parsePatch(writeNodes(nodes), "the patch", rules)),
        rules,
      );
    } catch (error) {
      if (error instanceof TalosError) return target.base[role];
      throw error;
    }
  };
  return { ...target, base: { controlplane: patched("controlplane"), worker: patched("worker") } };
}

const moveRules: readonly Rule[] = [...valueRules, ...kubernetesRules, ...machineRules];

interface Match {
  readonly rule: Rule;
  readonly parents: readonly YAMLMap[];
  readonly entry: Entry;
}

class Migration {
  readonly #nodes: readonly Node[];
  readonly #roles: readonly MachineType[];
  readonly #target: MigrationTarget;
  readonly #rules: readonly Rule[];
  readonly #moved: MovedPart[] = [];
  readonly #left: LeftPart[] = [];
  readonly #documents: Node[] = [];
  readonly #controlPlane: YAMLMap[] = [];

  constructor(nodes: readonly Node[], roles: readonly MachineType[], target: MigrationTarget) {
    this.#nodes = nodes;
    this.#roles = roles;
    // Rules look at a control plane, which has every document; for workers alone at a worker.
    const { worker } = target.base;
    const base = roles.includes("controlplane") ? target.base : { controlplane: worker, worker };
    this.#target = { ...target, base };
    this.#rules = moveRules.filter(({ since }) => target.contract.includes(since));
  }

  run(): MigratedPatch {
    const pieces = this.#nodes.map((node) => this.#readable(node));
    this.#documents.push(...pieces);
    const comments = new Map(
      pieces.map((piece) => [piece, piece.commentBefore ?? entriesOf(piece)[0]?.key.commentBefore]),
    );
    for (const piece of pieces) if (isLegacy(piece)) this.#migrate(piece);
    // What is left without content goes, its comment with what was made of it.
    const empty = pieces.filter((piece) => isLegacy(piece) && isEmptied(piece));
    const documents = this.#documents.filter((document) => !empty.includes(document));
    const [first] = [...documents, ...this.#controlPlane];
    const comment = empty.map((piece) => comments.get(piece)).find(Boolean);
    if (first !== undefined && comment && !first.commentBefore) first.commentBefore = comment;
    return { documents, controlPlane: this.#controlPlane, moved: this.#moved, left: this.#left };
  }

  /** RFC 6902 operations become a piece of config where the newer contract does not take them. */
  #readable(node: Node): Node {
    if (!isSeq(node) || !this.#target.contract.hostnameDocument) return node;
    const { piece, left } = asPiece(node);
    for (const { node: operation, path, reason } of left)
      this.#left.push({ path, offset: operation.range?.[0], reason });
    // Half of the operations would not mean half of the patch.
    if (left.length > 0) return node;
    if (node.commentBefore) piece.commentBefore = node.commentBefore;
    this.#moved.push({ path: "RFC 6902 operations", offset: node.range?.[0], to: ["a piece of config"] });
    return piece;
  }

  #migrate(piece: YAMLMap): void {
    const matches = this.#matches(piece, [piece], []);
    if (matches.length > 0 && isEntangled(piece)) {
      const reason = "it is written with anchors, aliases or tags: write it out, then run this again";
      for (const match of matches) this.#leave(match, reason);
      return;
    }
    for (const match of matches) {
      const outcome = match.rule.move(match.entry.value, this.#target);
      if (typeof outcome === "string") this.#leave(match, outcome);
      else this.#apply(match, outcome);
    }
  }

  #matches(map: YAMLMap, parents: readonly YAMLMap[], path: readonly string[]): readonly Match[] {
    return entriesOf(map).flatMap((entry): readonly Match[] => {
      const here = [...path, entry.key.value];
      const at = this.#rules.filter(({ from }) => here.every((key, index) => from[index] === key));
      const rule = at.find(({ from }) => from.length === here.length);
      if (rule !== undefined) return [{ rule, parents, entry }];
      if (at.length === 0) return [];
      const instead = (move: Rule["move"]): readonly Match[] => [
        { rule: { from: here, since: 0, move }, parents, entry },
      ];
      if (isDeletion(entry.value))
        return instead(() => "it deletes a section that is spread over several documents in the newer form");
      if (!isMap(entry.value)) return [];
      // An empty section says nothing, but counts as one where a document has its place.
      if (entry.value.items.length === 0) return instead(() => nothing);
      return this.#matches(entry.value, [...parents, entry.value], here);
    });
  }

  #leave({ rule: { from }, entry }: Match, reason: string, inner?: readonly string[]): void {
    const place = inner === undefined ? entry : (entryAt(entry.value, inner[0] ?? "") ?? entry);
    this.#left.push({ path: [...from, ...(inner ?? [])].join("."), offset: place.key.range?.[0], reason });
  }

  #apply(match: Match, { placements, unmovable = [] }: Outcome): void {
    const { entry, parents, rule } = match;
    const parent = parents.at(-1);
    if (parent === undefined) return;
    const used = placements.filter((placement) => this.#counts(placement));
    if (!used.every((placement) => this.#fits(placement))) {
      this.#leave(match, "the same patch has the document that it would move to: put both into one document by hand");
      return;
    }
    const comment = commentOf(entry, parents);
    for (const [index, placement] of used.entries()) this.#put(placement, index === 0 ? comment : undefined);
    for (const { path, reason } of unmovable) this.#leave(match, reason, path);
    const to = [...new Set(used.map(titleOf))];
    const whole = { path: rule.from.join("."), offset: entry.key.range?.[0], to };
    if (unmovable.length === 0) {
      this.#moved.push(whole);
      removeWithEmptyParents(parents, entry);
      return;
    }
    const kept = new Set(unmovable.map(({ path }) => path[0]));
    const rest = entriesOf(entry.value).filter(({ key }) => !kept.has(key.value));
    if (rest.length > 0) this.#moved.push(whole);
    for (const inner of rest) if (isMap(entry.value)) removeEntry(entry.value, inner);
  }

  /** What only control planes read does not count on workers. */
  #counts(placement: Placement): boolean {
    return this.#roles.includes("controlplane") || !isForControlPlanes(placement);
  }

  #listFor(placement: Placement): Node[] {
    return isForControlPlanes(placement) && this.#roles.includes("worker") ? this.#controlPlane : this.#documents;
  }

  #find(placement: Placement): YAMLMap | undefined {
    return this.#listFor(placement)
      .filter((document) => isMap(document))
      .find(
        (document) =>
          textOf(childAt(document, "kind")) === placement.kind &&
          (placement.name === undefined || textOf(childAt(document, "name")) === placement.name),
      );
  }

  #fits(placement: Placement): boolean {
    let node: Node | undefined = this.#find(placement);
    if (node === undefined) return true;
    if (placement.path.length === 0 || isDeletion(node)) return false;
    for (const key of placement.path) {
      node = childAt(node, key);
      if (node === undefined) return true;
      if (!isMap(node) || isDeletion(node)) return false;
    }
    return false;
  }

  #put(placement: Placement, comment: string | undefined): void {
    const { kind, name, path, node } = placement;
    const known = this.#find(placement);
    const head = [
      ["apiVersion", text("v1alpha1")],
      ["kind", text(kind)],
      ...(name === undefined ? [] : ([["name", text(name)]] as const)),
    ] as const;
    const document = known ?? mapOf(head);
    if (known === undefined) this.#listFor(placement).push(document);
    if (path.length > 0) putAt(document, path, node, comment);
    else for (const entry of entriesOf(node)) putAt(document, [entry.key.value], entry.value, comment);
  }
}

function isLegacy(node: Node): node is YAMLMap {
  return isMap(node) && childAt(node, "kind") === undefined;
}

function isEmptied(map: YAMLMap): boolean {
  return entriesOf(map).every(({ key }) => key.value === "version" || key.value === "apiVersion");
}

function isForControlPlanes({ kind, controlPlane }: Placement): boolean {
  return controlPlane ?? controlPlaneOnly.includes(kind);
}

function titleOf({ kind, name, path }: Placement): string {
  const title = name === undefined ? kind : `${kind}/${name}`;
  return [title, ...path].join(".");
}

/** The comment above an entry, or above the sections that hold nothing else. The one above the whole patch is not its own. */
function commentOf(entry: Entry, parents: readonly YAMLMap[]): string | undefined {
  let current = entry;
  for (let index = parents.length - 1; index >= 0; index -= 1) {
    const parent = parents[index];
    const above = parents[index - 1];
    if (parent === undefined || (above === undefined && parent.items[0] === current)) return undefined;
    if (current.key.commentBefore) return current.key.commentBefore;
    // What stands above the first entry of a map belongs to the map in the yaml package.
    if (parent.items[0] !== current) return undefined;
    const comment = parent.commentBefore;
    parent.commentBefore = null;
    if (comment) return comment;
    const outer = entriesOf(above).find(({ value }) => value === parent);
    if (parent.items.length > 1 || outer === undefined) return undefined;
    current = outer;
  }
  return undefined;
}

function removeWithEmptyParents(parents: readonly YAMLMap[], entry: Entry): void {
  let gone: Entry | undefined = entry;
  for (const parent of [...parents].reverse()) {
    if (gone === undefined) return;
    removeEntry(parent, gone);
    if (parent.items.length > 0) return;
    const above: YAMLMap | undefined = parents[parents.indexOf(parent) - 1];
    gone = entriesOf(above).find(({ value }) => value === parent);
  }
}
