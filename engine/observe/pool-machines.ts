// SPDX-License-Identifier: Apache-2.0
// Machines that an auto scaling group starts and terminates. No list has them: their nodes tell of them.
import { given } from "../../talos/given.ts";
import type { SecretsBundle } from "../../talos/secrets/index.ts";
import type { ClusterSpec, MachineSpec } from "../desired.ts";
import type { KubernetesNode } from "../observed.ts";
import { talosMachines } from "./talos-machines.ts";

export type PoolMachine = Pick<MachineSpec, "name" | "address"> & { readonly scalingPool: string };

export interface FoundMachines {
  readonly machines: readonly PoolMachine[];
  /** Why nothing could be found. @default none */
  readonly problem?: string;
}

/** Asks Kubernetes for the machines of the spec's scaling pools; asks nothing where there are no such pools. */
export async function findPoolMachines(
  spec: ClusterSpec,
  secrets: SecretsBundle,
  signal?: AbortSignal,
): Promise<FoundMachines> {
  if (Object.keys(spec.scalingPools ?? {}).length === 0) return { machines: [] };
  const { kubernetes, close } = talosMachines({ desired: spec, secrets, onlyLook: true });
  try {
    const observed = await kubernetes.observe(signal);
    if (observed.kind === "unreachable") return { machines: [], problem: observed.reason };
    return { machines: poolMachinesAmong(spec, observed.nodes) };
  } finally {
    close();
  }
}

/**
 * The nodes that are machines of a scaling pool. A kubelet writes its own label and addresses: a node that names a
 * listed machine's address or another node's is left out, so that no config is ever sent to a machine of another role.
 * One that is not ready may be terminated; only a drain of an earlier run says that it comes back.
 */
export function poolMachinesAmong(
  { machines, leaving = [], scalingPools = {} }: Pick<ClusterSpec, "machines" | "leaving" | "scalingPools">,
  nodes: readonly KubernetesNode[],
): readonly PoolMachine[] {
  const listed = new Set([...machines, ...leaving].flatMap(({ name, address }) => [name, address]));
  const owners = new Map<string, number>();
  for (const address of nodes.flatMap(({ addresses }) => [...new Set(addresses)]))
    owners.set(address, (owners.get(address) ?? 0) + 1);
  return nodes.flatMap(({ name, scalingPool, addresses, controlPlane, ready, cordonedByUs }): PoolMachine[] => {
    const [address] = addresses;
    if (scalingPool === undefined || scalingPools[scalingPool] === undefined || address === undefined) return [];
    const isOwn = addresses.every((one) => owners.get(one) === 1 && !listed.has(one));
    if (controlPlane || listed.has(name) || !isOwn || !(ready || cordonedByUs)) return [];
    return [{ name, address, scalingPool }];
  });
}

/** The spec with these machines in its list, each with its pool's config. Those of other pools are left out. */
export function withPoolMachines(spec: ClusterSpec, found: readonly PoolMachine[]): ClusterSpec {
  const machines = found.flatMap(({ name, address, scalingPool }): MachineSpec[] => {
    const pool = spec.scalingPools?.[scalingPool];
    return pool === undefined
      ? []
      : [{ name, role: "worker", address, scalingPool, ...given({ patches: pool.patches }) }];
  });
  return machines.length === 0 ? spec : { ...spec, machines: [...spec.machines, ...machines] };
}
