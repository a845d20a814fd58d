// SPDX-License-Identifier: Apache-2.0
import { type Diagnostics, isUnknown, isWhollyKnown, path, type Value } from "../../framework/index.ts";
import type { ClusterState, ClusterWishes } from "./attributes.ts";
import { type ClusterInput, policyOf } from "./spec.ts";

type Machines = Exclude<ClusterWishes["machines"], null>;

/**
 * Refuses a plan that takes more machines away at once than the cluster can do without. Terraform destroys what it
 * replaces first, and changes all machines of a block side by side. What `talosmith deploy` stops in turn may be any number.
 */
export async function checkOutages(
  prior: ClusterState,
  next: Pick<ClusterWishes, "rollout"> & { readonly machines: Machines },
  diagnostics: Diagnostics,
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  const kept = keptMachines(prior, next.machines);
  const planes = kept.filter(({ before }) => before.role === "controlplane");
  const all = Object.values(prior.machines).filter(({ role }) => role === "controlplane").length;
  const refuse = (summary: string, detail: string) => diagnostics.error({ summary, detail, path: path("machines") });
  const replaced = replacement(planes, all);
  if (replaced !== undefined) return refuse(replaced.summary, replaced.detail);
  const stopped = kept.filter(({ before, machine }) => before.hardware_id !== null && isUnknown(machine.hardware_id));
  if (stopped.length === 0) return;
  const { rollVariable, unavailableLimit } = await import("../../../engine/index.ts");
  if (environment[rollVariable] !== undefined) return;
  const of = (role: string) => stopped.filter(({ before }) => before.role === role);
  const limit = unavailableLimit(policyOf({ rollout: knownRollout(next) }), workersOf(next.machines));
  if (of("controlplane").length > 1)
    return refuse(
      "Several control planes at once",
      `The plan stops ${named(of("controlplane"))} to change them, and the cluster has no control plane meanwhile. ${inTurn}`,
    );
  if (of("worker").length > limit)
    return refuse(
      "Too many workers at once",
      `The plan stops ${named(of("worker"))} to change them; max_unavailable of rollout allows ${limit} at a time. ${inTurn}`,
    );
  diagnostics.warning({
    summary: "Machines are stopped without a drain",
    detail: `The plan stops ${named(stopped)} to change the hardware, and Terraform does not drain first. ${inTurn}`,
    path: path("machines"),
  });
}

type Kept = ReturnType<typeof keptMachines>;

/** Machines of the state that the plan does not remove. */
function keptMachines(prior: ClusterState, machines: Machines) {
  return Object.entries(machines).flatMap(([name, machine]) => {
    const before = prior.machines[name];
    return before === undefined || isUnknown(machine) ? [] : [{ name, before, machine }];
  });
}

const named = (list: Kept) => list.map(({ name }) => name).join(", ");

const inTurn =
  "talosmith deploy <environment> drains and changes them in turn. With terraform, for one machine after the other, here w-1: " +
  "kubectl drain w-1 --ignore-daemonsets --delete-emptydir-data; " +
  `terraform apply $(terraform state list | grep -F '["w-1"]' | sed 's/.*/-target=&/'); ` +
  "kubectl wait --for=condition=Ready node/w-1 --timeout=10m; kubectl uncordon w-1. The key in the addresses may be shorter than the name of the node.";

/** etcd must not lose more than one member to replacements, nor its last one. */
function replacement(planes: Kept, all: number): { readonly summary: string; readonly detail: string } | undefined {
  const leaving = planes.filter(
    ({ before, machine }) => before.member_id !== null && machine.member_id !== before.member_id,
  );
  // One that has its new id already was replaced before, with -target or by an apply that did not end: it is to join.
  const isThere = ({ machine }: Kept[number]) => typeof machine.member_id === "string";
  const replaced = planes.filter(
    (plane) => (leaving.includes(plane) && !isThere(plane)) || isUnknown(plane.machine.address),
  );
  const moved =
    "If nothing of them was changed, their addresses were: a state of talosmith 0.1.0 needs moved blocks, see States of 0.1.0 in docs/upgrading-talosmith.md.";
  if (replaced.length > 1)
    return {
      summary: "Several control planes at once",
      detail: `The plan replaces ${named(replaced)}. Each of them holds a part of etcd, and they would be destroyed before the first new one is there. Put back what was changed. One machine is replaced by terraform apply -replace='<its address>' and without -target, so that the new one joins in the same apply. ${moved}`,
    };
  if (leaving.length === 1 && all === 1)
    return {
      summary: "The only control plane",
      detail: `The plan replaces ${named(leaving)}, which holds all data of the cluster. Add control planes first, or take a snapshot of etcd, destroy the cluster and restore it. ${moved}`,
    };
  return undefined;
}

function knownRollout({ rollout }: Pick<ClusterWishes, "rollout">): ClusterInput["rollout"] {
  return isWhollyKnown(rollout as Value) ? (rollout as ClusterInput["rollout"]) : null;
}

function workersOf(machines: Machines): number {
  return Object.values(machines).filter((machine) => !isUnknown(machine) && machine.role === "worker").length;
}
