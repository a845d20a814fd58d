// SPDX-License-Identifier: Apache-2.0
import type { DesiredCluster, DesiredMachine } from "./desired.ts";
import { isSettled, type MachineWork, machineWork } from "./machine-work.ts";
import type { ObservedCluster } from "./observed.ts";
import type { PlanBuilder } from "./plan-builder.ts";
import { type Policy, unavailableLimit } from "./policy.ts";
import { configured, nodeOf } from "./quorum.ts";

interface Change {
  readonly machine: DesiredMachine;
  readonly work: MachineWork;
  readonly disruptive: boolean;
  readonly settled: boolean;
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
    return [{ machine, work, disruptive, settled: !begun && isSettled(desired, machine, observed, policy) }];
  });
  const ordered = [...changes.filter(({ settled }) => !settled), ...changes.filter(({ settled }) => settled)];
  let previous: readonly string[] = [];
  for (const change of ordered.filter(({ machine }) => machine.role === "controlplane")) {
    previous = [planChange(builder, change, observed, policy, previous)];
  }
  planWorkers(
    ordered.filter(({ machine }) => machine.role === "worker"),
    workerLanes(desired, policy),
    previous,
    (change, after) => planChange(builder, change, observed, policy, after),
  );
}

/** How many workers may be worked on side by side. */
export function workerLanes(desired: DesiredCluster, policy: Policy): number {
  return unavailableLimit(policy, desired.machines.filter(({ role }) => role === "worker").length);
}

/** The first worker goes alone, so that a bad change is found on one; then so many lanes side by side. */
export function planWorkers<T>(
  workers: readonly T[],
  count: number,
  after: readonly string[],
  add: (worker: T, after: readonly string[]) => string,
): void {
  const [first, ...rest] = workers;
  if (first === undefined) return;
  const lanes: string[] = new Array(count).fill(add(first, after));
  rest.forEach((worker, index) => {
    const lane = index % lanes.length;
    const before = lanes[lane];
    lanes[lane] = add(worker, before === undefined ? [] : [before]);
  });
}

/** Returns the id of the last step for this machine. */
function planChange(
  builder: PlanBuilder,
  { machine, work, disruptive }: Change,
  observed: ObservedCluster,
  policy: Policy,
  after: readonly string[],
): string {
  const { name, role } = machine;
  let last = after;
  const then = (...ids: string[]) => {
    last = ids;
  };
  const node = nodeOf(observed, name);
  const cordon = disruptive && node !== undefined;
  // While it can still do its work: an image that is missing costs nobody anything then.
  if (work.talos !== undefined) {
    then(builder.add({ kind: "pull-installer", machine: name, image: machine.installImage }, last));
  }
  if (cordon) then(builder.add({ kind: "drain", machine: name }, last));
  if (work.talos !== undefined) {
    then(builder.add({ kind: "upgrade-talos", machine: name, ...work.talos, image: machine.installImage }, last));
  }
  if (work.config !== undefined) {
    const effect = work.config.reboot ? "reboot" : "no-reboot";
    then(builder.add({ kind: "apply-config", machine: name, effect }, last));
  }
  if (role === "controlplane") then(builder.add({ kind: "join-etcd", machine: name }, last));
  if (policy.kubernetes) then(builder.add({ kind: "join-kubernetes", machine: name }, last));
  if (cordon && (!node.unschedulable || node.cordonedByUs))
    then(builder.add({ kind: "uncordon", machine: name }, last));
  const [id] = last;
  return id ?? "";
}
