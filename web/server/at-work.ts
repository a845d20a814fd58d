// SPDX-License-Identifier: Apache-2.0
import type { ClusterView, OperationView } from "../shared/wire.ts";

/** Steps during which a machine goes away and comes back. */
const takesAway = /^(?:apply-config|upgrade-talos|reboot|restore-etcd)\/(.+)$/;

/** Operations during which a cluster is not as it will be. */
const changes: ReadonlySet<OperationView["kind"]> = new Set([
  "apply",
  "upgrade",
  "scale",
  "destroy",
  "terraform deploy",
  "terraform destroy",
]);

/**
 * A cluster in the light of what is done to it: one that is being changed has conditions that are not met yet, and a
 * machine that is silent because a step has just made it boot is on its way. Neither is a reason to worry.
 */
export function withWork(cluster: ClusterView, operations: readonly OperationView[]): ClusterView {
  const running = operations.filter(
    ({ environment, endedAt }) => environment === cluster.environment && endedAt === null,
  );
  if (running.length === 0) return cluster;
  const booting = new Set(
    running
      .flatMap(({ steps }) => steps.filter(({ state }) => state === "running"))
      .map(({ id }) => takesAway.exec(id)?.[1]),
  );
  const machines = cluster.machines.map((machine) =>
    machine.health === "unreachable" && booting.has(machine.name)
      ? { ...machine, health: "starting" as const }
      : machine,
  );
  const isChanging = cluster.state === "unhealthy" && running.some(({ kind }) => changes.has(kind));
  return { ...cluster, machines, ...(isChanging ? { state: "changing" as const } : {}) };
}
