// SPDX-License-Identifier: Apache-2.0

import type { MachineSpec } from "../engine/index.ts";
import { controlPlanePool, type Environment, machinesOf } from "../model/index.ts";
import type { SimulatedMachine } from "../simulator/control/index.ts";
import { TalosError } from "../talos/errors.ts";
import type { MachineAddress } from "./cluster-spec.ts";
import type { MachineSource } from "./machine-source.ts";
import { ownerOf } from "./owner.ts";
import { projectSimulator } from "./simulator.ts";

/** Machines of the simulator: made where they are not there yet, and taken away again. */
export const simulatedMachines: MachineSource = {
  async refuseOthers(root, environment) {
    refuseOthers(await simulatedMachinesOf(root, environment), ownerOf(root, environment));
  },

  async ensure(root, environment) {
    const simulator = projectSimulator(root);
    const { name: cluster, talosVersion } = environment.cluster;
    const addresses = new Map<string, MachineAddress>();
    for (const { name } of machinesOf(environment)) {
      const { address, fingerprint } = await simulator.createMachine({ name, cluster, talosVersion });
      addresses.set(name, { address, fingerprint });
    }
    return addresses;
  },

  async find(root, environment) {
    const machines = await simulatedMachinesOf(root, environment);
    return new Map(machines.map(({ name, address, fingerprint }) => [name, { address, fingerprint }]));
  },

  has: async (root, environment) => (await simulatedMachinesOf(root, environment)).length > 0,

  async surplus(root, environment) {
    const wanted = new Set(machinesOf(environment).map(({ name }) => name));
    const controlPlane = `${environment.cluster.name}-${controlPlanePool}-`;
    return (await simulatedMachinesOf(root, environment))
      .filter(({ name }) => !wanted.has(name))
      .map(({ name, address, fingerprint }): MachineSpec => {
        const role = name.startsWith(controlPlane) ? "controlplane" : "worker";
        return { name, role, address, fingerprint };
      });
  },

  async remove(root, environment, names) {
    const found = await simulatedMachinesOf(root, environment);
    const removed = found.filter(({ name }) => names === undefined || names.includes(name));
    refuseOthers(removed, ownerOf(root, environment));
    for (const { id } of removed) await projectSimulator(root).deleteMachine(id);
  },
};

/** A copied project reaches the simulator of the first: what another state has is neither used nor taken away here. */
function refuseOthers(machines: readonly SimulatedMachine[], owner: string): void {
  const other = machines.find((machine) => machine.owner !== undefined && machine.owner !== owner);
  if (other === undefined) return;
  throw new TalosError("conflict", `the simulated machine ${other.name} belongs to another state: ${other.owner}`, {
    hint: `This is ${owner}. Change and destroy it through its own state.`,
  });
}

/** What the simulator has of an environment; one that has nothing is not started for it. */
export async function simulatedMachinesOf(
  root: string,
  environment: Environment,
): Promise<readonly SimulatedMachine[]> {
  const machines = await projectSimulator(root).listMachines();
  return machines.filter(({ cluster }) => cluster === environment.cluster.name);
}
