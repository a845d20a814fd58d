// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../../talos/errors.ts";
import type { StepContext } from "../execute/step-context.ts";
import type { Kubernetes, Ownership } from "../machines.ts";
import type { ObservedKubernetes } from "../observed.ts";

/**
 * Says which state wants to change a cluster. What keeps two states from having the same cluster is written down in the
 * cluster itself, so that only those who have its secrets can read and write it.
 */
export interface Claim {
  /** Names the state: environment, backend, key and workspace. What stands before the first comma is the environment. */
  readonly owner: string;
  /** Names that this state had before, such as before its backend was moved, or in the folder that it was copied from. */
  readonly formerly?: readonly string[];
  /** The cluster is not in this state yet: another owner is refused. Else this state has it, and becomes its owner. */
  readonly isNew: boolean;
  /** It has workers only, of a cluster that another state owns. */
  readonly joins: boolean;
  /** How many applies of the cluster this state knows of. */
  readonly applies: number;
  /** There is no state: another owner is refused, and nobody is recorded. @default false */
  readonly onlyCheck?: boolean;
}

const mostNames = 20;

/** The name of the other state that has what is claimed; undefined when there is none. */
export function otherOwner(
  known: Ownership | undefined,
  { owner, formerly = [], isNew, joins }: Claim,
): string | undefined {
  if (known === undefined) return undefined;
  const names = [owner, ...formerly];
  if (isNew && joins)
    return known.joined.find((other) => !names.includes(other) && environmentOf(other) === environmentOf(owner));
  if (isNew) return known.owner === undefined || names.includes(known.owner) ? undefined : known.owner;
  const listed = [...(known.formerly ?? []), ...known.joined, ...(known.owner === undefined ? [] : [known.owner])];
  return names.some((name) => listed.includes(name)) ? undefined : known.owner;
}

/** What is written down after an apply of the claim. `at` is ISO. */
export function claimed(
  known: Ownership | undefined,
  { owner, formerly = [], joins, applies }: Claim,
  at: string,
): Ownership {
  const before = known ?? { joined: [], applies: 0 };
  const others = before.joined.filter((other) => other !== owner && !formerly.includes(other));
  if (joins) return { ...before, joined: [...others, owner] };
  const names = [...(before.formerly ?? []), ...(before.owner === undefined ? [] : [before.owner])];
  // Another state, which has imported the cluster, has none of these names.
  const isSame = [owner, ...formerly].some((name) => names.includes(name));
  // A build machine may have another folder each time: only the last names are kept.
  const former = isSame ? [...new Set(names)].filter((name) => name !== owner).slice(-mostNames) : [];
  return {
    owner,
    ...(former.length === 0 ? {} : { formerly: former }),
    joined: before.joined,
    applies: Math.max(before.applies, applies) + 1,
    changed: at,
  };
}

/** What is left when the claim is given up. */
export function released(known: Ownership | undefined, { owner, formerly = [], joins }: Claim): Ownership {
  const before = known ?? { joined: [], applies: 0 };
  const names = [owner, ...formerly];
  if (joins) return { ...before, joined: before.joined.filter((other) => !names.includes(other)) };
  const { owner: recorded, formerly: _, ...rest } = before;
  return recorded === undefined || names.includes(recorded) ? rest : before;
}

function environmentOf(owner: string): string {
  return owner.split(",", 1)[0] ?? owner;
}

/** Throws `already-exists` when another state has the cluster. One whose Kubernetes does not answer cannot tell. */
export async function refuseOtherOwner(
  { machines, signal }: Pick<StepContext, "machines" | "signal">,
  kubernetes: ObservedKubernetes,
  claim: Claim | undefined,
): Promise<void> {
  if (claim === undefined || kubernetes.kind !== "reachable") return;
  refuse(await readOwnership(machines.kubernetes, signal), claim);
}

function refuse(known: Ownership | undefined, claim: Claim): void {
  const other = otherOwner(known, claim);
  if (other === undefined) return;
  throw new TalosError("already-exists", `the cluster belongs to another state: ${other}`, {
    hint: `This is ${claim.owner}. Nothing was changed: two states over the same machines would undo each other's work, and one's destroy would wipe the other's cluster. Work on it through its own state. To take it over, import it here (terraform import, docs/deploying.md) and remove it from the other state (terraform state rm).`,
  });
}

/** Before the first change: another state's cluster is refused; workers are entered, so that they may leave again. */
export async function beginClaim(
  context: StepContext,
  kubernetes: ObservedKubernetes,
  claim: Claim | undefined,
): Promise<void> {
  if (claim === undefined || kubernetes.kind !== "reachable") return;
  if (claim.joins) await recordOwner(context, claim);
  else if (claim.isNew) await refuseOtherOwner(context, kubernetes, claim);
}

/** Records the claim in the cluster. Undefined when that could not be written; a claim of another is refused. */
export async function recordOwner(context: StepContext, claim: Claim): Promise<Ownership | undefined> {
  const { machines, signal, timing } = context;
  const at = new Date(timing.now()).toISOString();
  try {
    return await machines.kubernetes.changeOwnership((known) => {
      if (claim.isNew) refuse(known, claim);
      return claimed(known, claim, at);
    }, signal);
  } catch (error) {
    const ours = TalosError.from(error);
    if (ours.code === "canceled" || ours.code === "already-exists") throw ours;
    context.emit({ type: "warning", message: `its owner could not be recorded in the cluster: ${ours.message}` });
    return undefined;
  }
}

async function readOwnership(kubernetes: Kubernetes, signal?: AbortSignal): Promise<Ownership | undefined> {
  try {
    return await kubernetes.readOwnership(signal);
  } catch (error) {
    const ours = TalosError.from(error);
    if (!ours.retryable) throw ours;
    return undefined;
  }
}
