// SPDX-License-Identifier: Apache-2.0
import { given } from "../../talos/given.ts";
import type { DesiredCluster, DesiredMachine } from "../desired.ts";
import type { ObservedCluster } from "../observed.ts";
import { type Policy, unavailableLimit, usesKubernetes } from "../policy.ts";
import { isSettled, type MachineWork, machineWork } from "./machine-work.ts";
import type { PlanBuilder } from "./plan-builder.ts";
import { planGate, planPause, splitCanaries } from "./plan-caution.ts";
import { configured, heldAddress, holderLast, nodeOf } from "./quorum.ts";

interface Change {
  readonly machine: DesiredMachine;
  readonly work: MachineWork;
  readonly disruptive: boolean;
  readonly settled: boolean;
  /** An earlier run was here and did not come to its end. */
  readonly begun: boolean;
}

/** New Talos versions and changed configs, machine by machine: the ailing first, control planes before workers. */
export function planRollout(
  builder: PlanBuilder,
  desired: DesiredCluster,
  observed: ObservedCluster,
  policy: Policy,
): void {
  const changes = desired.machines.flatMap((machine): Change[] => {
    const state = configured(observed.machines.get(machine.name));
    if (state === undefined) return [];
    const work = machineWork(desired, machine, state);
    if (work.talos === undefined && work.config === undefined) return [];
    const disruptive = work.talos !== undefined || work.config?.reboot === true;
    // A cordon of ours says that an earlier run was here: it is finished before anyone else goes down.
    const begun = nodeOf(observed, machine.name)?.cordonedByUs === true;
    return [{ machine, work, disruptive, settled: !begun && isSettled(desired, machine, observed, policy), begun }];
  });
  const controlPlanesFirst = (some: readonly Change[]) => [
    ...some.filter(({ machine }) => machine.role === "controlplane"),
    ...some.filter(({ machine }) => machine.role === "worker"),
  ];
  const settled = changes.filter((change) => change.settled);
  const ailing = [
    ...changes.filter((change) => !change.settled),
    ...holderLast(settled, observed, ({ machine }) => machine),
  ];
  const { canaries, rest } = splitCanaries(controlPlanesFirst(ailing), policy);
  const add = (change: Change, after: readonly string[]) =>
    planChange(builder, change, desired, observed, policy, after);
  const overAll = (some: readonly Change[], after: readonly string[]): readonly string[] => {
    let previous = after;
    for (const change of some) if (change.machine.role === "controlplane") previous = [add(change, previous)];
    const workers = some.filter(({ machine }) => machine.role === "worker");
    return planWorkers(workers, workerLanes(desired, policy), previous, add);
  };
  const first = canaries.map(({ machine }) => machine.name);
  overAll(rest, planPause(builder, desired, policy, "machines", first, overAll(canaries, [])));
}

/** How many workers may be worked on side by side. */
export function workerLanes(desired: DesiredCluster, policy: Policy): number {
  return unavailableLimit(policy, desired.machines.filter(({ role }) => role === "worker").length);
}

/**
 * The first worker goes alone, so that a bad change is found on one; then so many lanes side by side. Returns the last
 * steps of all lanes.
 */
export function planWorkers<T>(
  workers: readonly T[],
  count: number,
  after: readonly string[],
  add: (worker: T, after: readonly string[]) => string,
): readonly string[] {
  const [first, ...rest] = workers;
  if (first === undefined) return after;
  const lanes: string[] = new Array(count).fill(add(first, after));
  rest.forEach((worker, index) => {
    const lane = index % lanes.length;
    const before = lanes[lane];
    lanes[lane] = add(worker, before === undefined ? [] : [before]);
  });
  return [...new Set(lanes)];
}

/** Returns the id of the last step for this machine. */
function planChange(
  builder: PlanBuilder,
  { machine, work, disruptive, begun }: Change,
  desired: DesiredCluster,
  observed: ObservedCluster,
  policy: Policy,
  after: readonly string[],
): string {
  const { name, role } = machine;
  let last = begun ? after : planGate(builder, policy, name, "change", after);
  const then = (...ids: string[]) => {
    last = ids;
  };
  const node = nodeOf(observed, name);
  const drained = disruptive && node !== undefined;
  const shared = given({ sharedAddress: heldAddress(desired, observed, name) });
  // While it can still do its work: an image that is missing costs nobody anything then.
  if (work.talos !== undefined) {
    then(builder.add({ kind: "pull-installer", machine: name, image: machine.installImage }, last));
  }
  if (drained) then(builder.add({ kind: "drain", machine: name }, last));
  if (work.talos !== undefined) {
    const image = machine.installImage;
    then(builder.add({ kind: "upgrade-talos", machine: name, ...work.talos, image, ...shared }, last));
  }
  if (work.config !== undefined) {
    const effect = work.config.reboot ? "reboot" : "no-reboot";
    then(builder.add({ kind: "apply-config", machine: name, effect, ...(work.config.reboot ? shared : {}) }, last));
  }
  if (role === "controlplane") then(builder.add({ kind: "join-etcd", machine: name }, last));
  if (usesKubernetes(policy)) then(builder.add({ kind: "join-kubernetes", machine: name }, last));
  // Never the cordon of a person. One that was lifted before the rollout is no end of this machine's steps.
  const uncordon = { kind: "uncordon", machine: name } as const;
  if ((node?.unschedulable ? node.cordonedByUs : drained) && !builder.has(uncordon)) then(builder.add(uncordon, last));
  const [id] = last;
  return id ?? "";
}
