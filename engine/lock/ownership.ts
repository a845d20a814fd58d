// SPDX-License-Identifier: Apache-2.0

import { TalosError } from "../../talos/errors.ts";
import { given, isGiven } from "../../talos/given.ts";
import type { StepContext } from "../execute/step-context.ts";
import { undefinedIf } from "../failures.ts";
import type { Ownership } from "../machines.ts";
import type { ObservedCluster, ObservedKubernetes } from "../observed.ts";
import { configured } from "../plan/quorum.ts";

/**
 * Says which state wants to change a cluster. What keeps two states from having the same cluster is written down in the
 * cluster itself, so that only those who have its secrets can read and write it.
 */
export interface Claim {
  /** Names the state: environment, backend, key and workspace. What stands before the first comma is the environment. */
  readonly owner: string;
  /** Names that this state had before, such as before its backend was moved, or in the folder that it was copied from. */
  readonly formerly?: readonly string[];
  /** The cluster is not in this state yet. Else it has it: under `formerly`, or by an import when that is empty. */
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
  // An imported state has no name in the cluster yet: its first apply takes the cluster over.
  if (formerly.length === 0 && !joins) return undefined;
  const listed = [...(known.formerly ?? []), ...known.joined, known.owner];
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
  const names = [...(before.formerly ?? []), before.owner].filter(isGiven);
  // Another state, which has imported the cluster, has none of these names.
  const isSame = [owner, ...formerly].some((name) => names.includes(name));
  // A build machine may have another folder each time: only the last names are kept.
  const former = isSame ? [...new Set(names)].filter((name) => name !== owner).slice(-mostNames) : [];
  return {
    owner,
    ...given({ formerly: former.length === 0 ? undefined : former }),
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

interface Check {
  /** The work wipes machines. @default false */
  readonly removes?: boolean;
}

/**
 * Throws `already-exists` when another state has the cluster. Where the cluster cannot say who has it, a state that has
 * it, or a journal that names this owner, is believed. Others get no running cluster; without a state they may repair it.
 */
export async function refuseOtherOwner(
  context: StepContext,
  observed: ObservedCluster,
  claim: Claim | undefined,
  { removes = false }: Check = {},
): Promise<void> {
  if (claim !== undefined) await isConfirmed(context, observed, claim, { removes });
}

/** The same for work that only looks: where the cluster cannot say who has it, there is nothing to refuse. */
export async function refuseKnownOwner(
  context: StepContext,
  kubernetes: ObservedKubernetes,
  claim: Claim | undefined,
): Promise<void> {
  if (claim === undefined) return;
  const reading = await readOwnership(context, kubernetes);
  if (typeof reading === "object") refuse(reading.ownership, claim);
}

/** As `refuseOtherOwner`; false when the owner is unknown and the work may go on all the same. */
async function isConfirmed(
  context: StepContext,
  observed: ObservedCluster,
  claim: Claim,
  { removes = false }: Check,
): Promise<boolean> {
  let reading = await readOwnership(context, observed.kubernetes);
  if (typeof reading === "object") refuse(reading.ownership, claim);
  if (typeof reading === "object" || claim.joins || !claim.isNew || hasNoOwner(observed)) return true;
  if (await context.hasFinished(ownerNote(claim))) return true;
  if (claim.onlyCheck && !removes) {
    context.emit({ type: "warning", message: `${unreadable(reading)}. If another state has it, stop now` });
    return false;
  }
  // Right after its first start the API takes a moment.
  if (!removes) reading = await awaitOwnership(context, reading);
  if (typeof reading === "object") {
    refuse(reading.ownership, claim);
    return true;
  }
  throw new TalosError("already-exists", unreadable(reading), {
    hint: `This is ${claim.owner}, and nothing in its state or journal says that the cluster is its own. Nothing was changed. Repair the Kubernetes API first (talosmith deploy <environment>, or the state that has the cluster), then run the same command again. If the cluster's state was lost, restore it from a copy or import the cluster (terraform import, docs/deploying.md).`,
  });
}

function unreadable(reason: string): string {
  return `the cluster is running, and its owner cannot be read: ${reason}`;
}

/** Owners are recorded when an apply has ended: a cluster whose etcd was never started has none. */
function hasNoOwner({ machines }: ObservedCluster): boolean {
  const all = [...machines.values()];
  if (all.every((machine) => configured(machine) === undefined)) return true;
  const controlPlanes = all.filter(({ role }) => role === "controlplane");
  return controlPlanes.every(
    (machine) => machine.state.kind === "maintenance" || configured(machine)?.etcd?.state === "waiting",
  );
}

/** In the journal, which a copy of the project has too: the name of a local state has its folder in it. */
const ownerNote = ({ owner }: Claim) => ({ id: `owner/${owner}` });

async function awaitOwnership(context: StepContext, first: string): Promise<Known | string> {
  let reading: Known | string = first;
  const look = async () => {
    reading = await readOwnership(context, await context.observeKubernetes());
    return typeof reading === "object" ? undefined : unreadable(reading);
  };
  await context
    .waitFor("read the owner of the cluster", context.timeouts.reachable, look)
    .catch(undefinedIf("deadline-exceeded"));
  return reading;
}

/** Throws `already-exists` when the cluster was taken over from the state that claims it. Workers lose nothing by that. */
export function refuseLost(known: Ownership | undefined, claim: Claim | undefined): void {
  if (claim !== undefined && !claim.joins) refuse(known, claim);
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
  observed: ObservedCluster,
  claim: Claim | undefined,
): Promise<void> {
  if (claim === undefined) return;
  if (claim.joins) {
    if (observed.kubernetes.kind === "reachable") await recordOwner(context, claim);
    return;
  }
  if (!(await isConfirmed(context, observed, claim, {}))) return;
  const note = ownerNote(claim);
  if (!(await context.hasFinished(note))) await context.record(note, "finished");
}

/** Records the claim in the cluster. Undefined when that could not be written; a claim of another is refused. */
export async function recordOwner(context: StepContext, claim: Claim): Promise<Ownership | undefined> {
  const { machines, signal, timing } = context;
  const at = new Date(timing.now()).toISOString();
  try {
    return await machines.kubernetes.changeOwnership((known) => {
      // Workers do not lose a cluster that they have joined.
      if (claim.isNew || !claim.joins) refuse(known, claim);
      return claimed(known, claim, at);
    }, signal);
  } catch (error) {
    const ours = TalosError.from(error);
    if (ours.code === "canceled" || ours.code === "already-exists") throw ours;
    context.emit({ type: "warning", message: `its owner could not be recorded in the cluster: ${ours.message}` });
    return undefined;
  }
}

interface Known {
  readonly ownership: Ownership | undefined;
}

/** What the cluster says of its owner, or why it cannot. */
export async function readOwnership(
  { machines, signal }: Pick<StepContext, "machines" | "signal">,
  kubernetes: ObservedKubernetes,
): Promise<Known | string> {
  if (kubernetes.kind === "unreachable") return kubernetes.reason;
  try {
    return { ownership: await machines.kubernetes.readOwnership(signal) };
  } catch (error) {
    const ours = TalosError.from(error);
    if (!ours.retryable) throw ours;
    return ours.message;
  }
}
