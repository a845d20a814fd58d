// SPDX-License-Identifier: Apache-2.0
import type { ClusterSpec, MachineSpec } from "../../talos/cluster/index.ts";
import { type Cni, schedulesOnControlPlanes } from "../../talos/config/index.ts";
import { type Environment, type MachinePlan, machinesOf } from "../../talos/environment/index.ts";
import { TalosVersion } from "../../talos/version/index.ts";

/** Where a machine is reached: what its infrastructure knows after it was made. */
export interface MachineAddress {
  readonly address: string;
  readonly fingerprint?: string;
}

/** The engine's view of an environment, once its machines have addresses. */
export function clusterSpec(
  environment: Environment,
  addresses: ReadonlyMap<string, MachineAddress>,
  leaving: readonly MachineSpec[] = [],
): ClusterSpec {
  const { cluster } = environment;
  const machines = machinesOf(environment).map((machine) => machineSpec(environment, machine, addresses));
  const first = machines.find((machine) => machine.role === "controlplane");
  return {
    name: cluster.name,
    endpoint: cluster.endpoint ?? `https://${first?.address}:6443`,
    talosVersion: TalosVersion.parse(cluster.talosVersion),
    kubernetesVersion: cluster.kubernetesVersion,
    dnsDomain: cluster.domain,
    podSubnets: cluster.podCidrs,
    serviceSubnets: cluster.serviceCidrs,
    cni: cniOf(cluster.cni),
    ...(cluster.kubespan ? { kubespan: true } : {}),
    discovery: cluster.discovery,
    allowSchedulingOnControlPlanes: schedulesOnControlPlanes(
      cluster.allowSchedulingOnControlPlanes,
      machines.filter(({ role }) => role === "worker").length,
    ),
    additionalSans: cluster.certSans,
    registryMirrors: cluster.registryMirrors,
    ...(cluster.installDisk === undefined ? {} : { installDisk: cluster.installDisk }),
    ...(cluster.installImage === undefined ? {} : { installImage: cluster.installImage }),
    patches: cluster.patches,
    machines,
    leaving,
  };
}

function cniOf(cni: Environment["cluster"]["cni"]): Cni {
  return typeof cni === "object" ? { name: "custom", urls: cni.urls } : { name: cni };
}

function machineSpec(
  environment: Environment,
  { name, role }: MachinePlan,
  addresses: ReadonlyMap<string, MachineAddress>,
): MachineSpec {
  const found = addresses.get(name);
  if (found === undefined) throw new Error(`no address for ${name}`);
  return { name, role, ...found, patches: environment.cluster.patches.machines[name] ?? [] };
}
