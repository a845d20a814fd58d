// SPDX-License-Identifier: Apache-2.0
import type { ClusterSpec, MachineSpec } from "../engine/index.ts";
import {
  controlPlanePool,
  type Environment,
  firstContactOf,
  type MachinePlan,
  machinesOf,
  nodePatch,
  resolveCluster,
} from "../model/index.ts";
import { clusterSettings, optionsOf } from "../model/settings/index.ts";
import { endpointAt } from "../talos/endpoint-at.ts";
import { given, isGiven } from "../talos/given.ts";
import { Contract, contractOf, TalosVersion } from "../talos/version/index.ts";

/** Where a machine is reached: what its infrastructure knows after it was made. */
export interface MachineAddress {
  readonly address: string;
  readonly fingerprint?: string;
  /** Config patches that its infrastructure needs. */
  readonly patches?: readonly string[];
  readonly meta?: Readonly<Record<string, string>>;
}

/** The engine's view of an environment: of its machines that have addresses, for the others are still to be made. */
export function environmentSpec(
  environment: Environment,
  addresses: ReadonlyMap<string, MachineAddress>,
  leaving: readonly MachineSpec[] = [],
  patchFiles: readonly string[] = [],
): ClusterSpec {
  const { cluster } = environment;
  const planned = machinesOf(environment);
  const machines = planned.flatMap((machine) => {
    const found = addresses.get(machine.name);
    if (found === undefined) return [];
    const spec = machineSpec(environment, machine, found);
    return [{ ...spec, patches: [...(spec.patches ?? []), ...patchFiles] }];
  });
  const first = machines.find((machine) => machine.role === "controlplane");
  const vip = vipOf(environment);
  const { settings, patches } = resolveCluster(cluster, {
    platform: "metal",
    workers: planned.filter(({ role }) => role === "worker").length,
    certSans: vip === undefined ? [] : [vip],
  });
  return {
    ...optionsOf(clusterSettings, settings),
    name: cluster.name,
    endpoint: cluster.endpoint ?? endpointAt(vip ?? first?.address ?? ""),
    talosVersion: TalosVersion.parse(cluster.talosVersion),
    contract: contractOf(cluster),
    ...given({
      previousContract: cluster.previousContract === undefined ? undefined : Contract.parse(cluster.previousContract),
    }),
    kubernetesVersion: cluster.kubernetesVersion,
    patches,
    deletionProtection: environment.infrastructure.deletionProtection,
    machines,
    leaving,
    trustOnFirstUse: firstContactOf(environment).trustOnFirstUse,
  };
}

function machineSpec(
  environment: Environment,
  { name, role, pool }: MachinePlan,
  { patches = [], ...place }: MachineAddress,
): MachineSpec {
  const marks = poolPatches(environment, pool);
  const own = environment.cluster.patches.machines[name] ?? [];
  return { name, role, ...place, patches: [...patches, ...marks, ...own] };
}

/** Labels and taints of a machine's pool, and its patches: after those of the infrastructure, as in a stack. */
function poolPatches({ controlPlane, workers, cluster }: Environment, pool: string): readonly string[] {
  const found = pool === controlPlanePool ? controlPlane : workers.find(({ name }) => name === pool);
  if (found === undefined) return [];
  const marks = nodePatch(contractOf(cluster), found);
  return [marks, ...found.patches].filter(isGiven);
}

/** The address that the control planes share. */
function vipOf(environment: Environment): string | undefined {
  return environment.kind === "metal" ? environment.infrastructure.network.vip : undefined;
}
