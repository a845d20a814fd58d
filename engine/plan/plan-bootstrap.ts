// SPDX-License-Identifier: Apache-2.0
import { bootstrapTarget, type DesiredCluster } from "../desired.ts";
import type { ObservedCluster } from "../observed.ts";
import type { PlanBuilder } from "./plan-builder.ts";
import { configured } from "./quorum.ts";

/** Adds the start of etcd where none exists; returns its id for others to wait for. */
export function planBootstrap(
  builder: PlanBuilder,
  desired: DesiredCluster,
  observed: ObservedCluster,
): readonly string[] {
  if (bootstrapObstacle(desired, observed) !== undefined) return [];
  const target = bootstrapTarget(desired);
  return [builder.add({ kind: "bootstrap-etcd", machine: target }, [`apply-config/${target}`])];
}

/**
 * Why etcd must not be started now. Starting a second one would split the cluster for good, so every control plane,
 * wished or leaving, has to be seen without etcd data; not being able to look is a no. And a worker that has become a
 * ready node tells of an etcd that was there: a new one would forget everything.
 */
export function bootstrapObstacle(
  desired: Pick<DesiredCluster, "machines" | "leaving">,
  observed: ObservedCluster,
): string | undefined {
  for (const { name, role } of [...desired.machines, ...desired.leaving]) {
    const machine = observed.machines.get(name);
    const state = machine?.state;
    if (role === "worker") {
      if (state?.kind === "configured" && state.ready) return `${name} is a node of a cluster that had an etcd`;
      continue;
    }
    if (state === undefined || state.kind === "unreachable" || state.kind === "foreign") {
      return `${name} cannot be asked whether it has etcd data: ${state?.reason ?? "not observed"}`;
    }
    const etcd = configured(machine)?.etcd;
    if (etcd !== undefined && etcd.state !== "waiting") return `${name} already has etcd data`;
    if (state.kind === "configured" && ["rebooting", "resetting", "upgrading", "shutting down"].includes(state.stage)) {
      return `${name} is ${state.stage}`;
    }
  }
  return undefined;
}
