// SPDX-License-Identifier: Apache-2.0
import type { ClusterView, OperationView } from "../shared/wire.ts";

/** Steps during which a machine goes away and comes back. */
const takesAway = /^(?:apply-config|upgrade-talos|reboot|restore-etcd)\/(.+)$/;

/** A machine that is silent because a step has just made it boot is on its way, and no reason to worry. */
export function withWork(
  clusters: readonly ClusterView[],
  operations: readonly OperationView[],
): readonly ClusterView[] {
  return clusters.map((cluster) => {
    const booting = new Set(
      operations
        .filter(({ environment, endedAt }) => environment === cluster.environment && endedAt === null)
        .flatMap(({ steps }) => steps.filter(({ state }) => state === "running"))
        .map(({ id }) => takesAway.exec(id)?.[1]),
    );
    if (booting.size === 0) return cluster;
    const machines = cluster.machines.map((machine) =>
      machine.health === "unreachable" && booting.has(machine.name)
        ? { ...machine, health: "starting" as const }
        : machine,
    );
    return { ...cluster, machines };
  });
}
