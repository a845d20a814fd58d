// SPDX-License-Identifier: Apache-2.0
import type { Claim, Ownership } from "../../engine/index.ts";
import { given } from "../../talos/given.ts";
import type { Diagnostics } from "../framework/index.ts";
import type { Client } from "./client.ts";

/** What a resource remembers beside its state: which state it was in, and how often the cluster was applied by then. */
interface Memory {
  readonly owner?: string;
  /** Names that the state had before; a cluster that was restored from a backup may know it by one of them only. */
  readonly formerly?: readonly string[];
  readonly applies?: number;
}

/** As many as a cluster keeps. */
const mostNames = 20;

export function memoryOf(remembered: string): Memory {
  if (remembered === "") return {};
  const { owner, formerly, applies } = JSON.parse(remembered) as Readonly<Record<string, unknown>>;
  const names = Array.isArray(formerly) ? formerly.filter((name) => typeof name === "string") : [];
  return given({
    owner: typeof owner === "string" ? owner : undefined,
    formerly: names.length === 0 ? undefined : names,
    applies: typeof applies === "number" ? applies : undefined,
  });
}

/** The text for the memory; what is not known any better is kept. */
export function memoryText(
  before: string,
  { owner, applies }: { owner?: string | undefined; applies?: number | undefined },
): string {
  const known = memoryOf(before);
  const former = namesOf(known).filter((name) => name !== (owner ?? known.owner));
  const formerly = former.length === 0 ? undefined : former.slice(-mostNames);
  const memory: Memory = { ...known, ...given({ owner, formerly, applies }) };
  return Object.keys(memory).length === 0 ? "" : JSON.stringify(memory);
}

function namesOf({ owner, formerly = [] }: Memory): readonly string[] {
  return owner === undefined ? formerly : [...formerly, owner];
}

/** What this state claims of a cluster that is new to it. Undefined where the provider block names no owner. */
export function newClaim({ owner }: Pick<Client, "owner">, joins: boolean): Claim | undefined {
  return owner === undefined ? undefined : { owner, isNew: true, joins, applies: 0 };
}

/** The same of a cluster that it has: under its name of now, or under the one that it had. */
export function heldClaim({ owner }: Pick<Client, "owner">, remembered: string, joins: boolean): Claim | undefined {
  if (owner === undefined) return undefined;
  const memory = memoryOf(remembered);
  return { owner, formerly: namesOf(memory), isNew: false, joins, applies: memory.applies ?? 0 };
}

/**
 * What may take machines away: only a state that is known to have had them under a name. One from before there were
 * names, or imported, is not asked.
 */
export function removalClaim(client: Pick<Client, "owner">, remembered: string, joins: boolean): Claim | undefined {
  return memoryOf(remembered).owner === undefined ? undefined : heldClaim(client, remembered, joins);
}

/** A state that was put back from a copy, or that has a twin which was used since. */
export function warnIfOlder(ownership: Ownership | undefined, remembered: string, diagnostics: Diagnostics): void {
  const { applies } = memoryOf(remembered);
  if (ownership === undefined || applies === undefined || ownership.applies <= applies) return;
  const { owner, changed } = ownership;
  const since = ownership.applies - applies;
  diagnostics.warning({
    summary: "The state is older than the cluster",
    detail: `The cluster was applied ${since === 1 ? "once" : `${since} times`} since this state was written${changed === undefined ? "" : `, last at ${changed}`}${owner === undefined ? "" : ` (${owner})`}. This state is an old copy, or another copy of it is in use. Applying it may undo what was done since: compare the plan, or put the newest state back.`,
  });
}
