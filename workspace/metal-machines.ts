// SPDX-License-Identifier: Apache-2.0
import { renderMeta } from "../cloud-init/index.ts";
import type { MachineSpec } from "../engine/index.ts";
import { type Environment, type MetalEnvironment, machinesOf, metalPatches, staticAddress } from "../model/index.ts";
import { TalosError } from "../talos/errors.ts";
import { given } from "../talos/given.ts";
import type { MachineAddress } from "./cluster-spec.ts";
import { type RecordedMachine, recordedMachines, recordMachines, removeRecord } from "./machine-record.ts";
import type { MachineSource } from "./machine-source.ts";

/**
 * Machines by the addresses in the file. Nobody makes or removes them; what is written down is which of them a deploy
 * without Terraform has taken into the cluster, so that one that goes from the file can leave.
 */
export const metalMachines: MachineSource = {
  async ensure({ root, environment }) {
    const found = addressesOf(metal(environment));
    const known = await recordedMachines(root, environment.name);
    const wanted = recordsOf(metal(environment));
    const gone = known.filter(({ name, address }) => !wanted.some((w) => w.name === name && w.address === address));
    const moved = gone.find(({ name }) => wanted.some((machine) => machine.name === name));
    if (moved !== undefined)
      throw new TalosError(
        "failed-precondition",
        `${moved.name} was at ${moved.address}, and is at another address now`,
        { hint: "Give the new machine another name, so that the old one can leave." },
      );
    await recordMachines(root, environment, [...wanted, ...gone]);
    return found;
  },

  find: async ({ environment }) => addressesOf(metal(environment)),

  has: async ({ root, environment }) => (await recordedMachines(root, environment.name)).length > 0,

  async surplus({ root, environment }) {
    const wanted = new Set(machinesOf(environment).map(({ name }) => name));
    const known = await recordedMachines(root, environment.name);
    return known.filter(({ name }) => !wanted.has(name)).map((machine): MachineSpec => ({ ...machine }));
  },

  async remove({ root, environment }, names) {
    if (names === undefined) return removeRecord(root, environment.name);
    if (names.length === 0) return;
    const known = await recordedMachines(root, environment.name);
    const left = known.filter(({ name }) => !names.includes(name));
    await recordMachines(root, environment, left);
  },
};

function metal(environment: Environment): MetalEnvironment {
  if (environment.kind !== "metal") throw new TalosError("internal", `${environment.name} is not of kind metal`);
  return environment;
}

function recordsOf(environment: MetalEnvironment): readonly RecordedMachine[] {
  const { machines } = environment.infrastructure;
  return machinesOf(environment).map(({ name, role }) => ({ name, role, address: machines[name]?.address ?? "" }));
}

function addressesOf(environment: MetalEnvironment): Map<string, MachineAddress> {
  const { cluster, infrastructure } = environment;
  const { network, meta, diskSelector, wipe } = infrastructure;
  const { talosVersion, configContract, installDisk } = cluster;
  const imageFactory = cluster.airGap?.factory;
  return new Map(
    Object.entries(infrastructure.machines).map(([name, machine]) => {
      const { address, role, fingerprint, mac, link } = machine;
      const { gateway } = network;
      const nameservers = network.nameservers.length === 0 ? undefined : network.nameservers;
      const known = { hostname: name, role, cluster: cluster.name, address, mac, link, gateway, nameservers };
      return [
        name,
        {
          address,
          ...given({ fingerprint }),
          patches: metalPatches({
            talosVersion,
            configContract,
            machine,
            network,
            diskSelector,
            wipe,
            installDisk,
            imageFactory,
          }),
          meta: renderMeta({ ...known, cidr: staticAddress({ machine, network }) }, meta, machine.meta),
        },
      ];
    }),
  );
}
