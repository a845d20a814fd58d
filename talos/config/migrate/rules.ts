// SPDX-License-Identifier: Apache-2.0
import { isSeq, type Node } from "yaml";
import type { Contract } from "../../version/index.ts";
import type { MachineType } from "../cluster-config.ts";
import type { ConfigDocument } from "../document/config-file.ts";
import { type FieldType, kindType, structOf } from "../schema/schema.ts";

/** What patches are moved into. */
export interface MigrationTarget {
  readonly contract: Contract;
  /** The documents of a machine in the contract's form, before any patch of a person. */
  readonly base: Readonly<Record<MachineType, readonly ConfigDocument[]>>;
}

/** What is written in a document of the newer form, in place of a setting of the v1alpha1 one. */
export interface Placement {
  readonly kind: string;
  /** Of documents that have one. */
  readonly name?: string | undefined;
  /** Empty when the document as a whole is deleted. */
  readonly path: readonly string[];
  readonly node: Node;
  /** Only control planes read the setting, although all machines have the document. @default by the kind */
  readonly controlPlane?: boolean;
}

/** A setting that cannot be moved, by its path. */
export interface Unmovable {
  readonly path: readonly string[];
  readonly reason: string;
}

/** What becomes of one setting. What is in neither list goes without a trace: the newer form implies it. */
export interface Outcome {
  readonly placements: readonly Placement[];
  readonly unmovable?: readonly Unmovable[];
}

export interface Rule {
  /** The setting's path in the v1alpha1 document. */
  readonly from: readonly string[];
  /** The first minor release whose contract keeps it elsewhere. */
  readonly since: number;
  /** A text says why it cannot be moved. */
  readonly move: (node: Node, target: MigrationTarget) => Outcome | string;
}

export function rule(from: string, since: number, move: Rule["move"]): Rule {
  return { from: from.split("."), since, move };
}

export const nothing: Outcome = { placements: [] };

/** For a list that has no place in the newer form: an empty one says nothing. */
export function unlessEmpty(reason: string): Rule["move"] {
  return (node) => (isSeq(node) && node.items.length === 0 ? nothing : reason);
}

/** The release that brought a field of a document. */
export function fieldSince(kind: string, path: string): number {
  const known = kindType(kind);
  let since = known?.since ?? 0;
  let struct = known?.struct;
  for (const key of path.split(".")) {
    const field = struct?.byKey.get(key);
    since = Math.max(since, field?.since ?? 0);
    const type: FieldType | undefined = field?.type.kind === "pointer" ? field.type.to : field?.type;
    struct = type?.kind === "struct" ? structOf(type.name) : undefined;
  }
  return since;
}
