// SPDX-License-Identifier: Apache-2.0
import { type Environment, machinesOf } from "../../talos/environment/index.ts";
import type { MachineAddress } from "./cluster-spec.ts";
import { projectSimulator } from "./simulator.ts";

/** Makes the simulated machines of an environment where they are not there yet. */
export async function ensureMachines(root: string, environment: Environment): Promise<Map<string, MachineAddress>> {
  const simulator = projectSimulator(root);
  const { name: cluster, talosVersion } = environment.cluster;
  const addresses = new Map<string, MachineAddress>();
  for (const { name } of machinesOf(environment)) {
    const { address, fingerprint } = await simulator.createMachine({ name, cluster, talosVersion });
    addresses.set(name, { address, fingerprint });
  }
  return addresses;
}

/** The machines of an environment that exist, without making any. */
export async function findMachines(root: string, environment: Environment): Promise<Map<string, MachineAddress>> {
  const machines = await projectSimulator(root).listMachines();
  return new Map(
    machines
      .filter(({ cluster }) => cluster === environment.cluster.name)
      .map(({ name, address, fingerprint }) => [name, { address, fingerprint }]),
  );
}

export async function removeMachines(root: string, environment: Environment): Promise<void> {
  const simulator = projectSimulator(root);
  for (const { id, cluster } of await simulator.listMachines()) {
    if (cluster === environment.cluster.name) await simulator.deleteMachine(id);
  }
}
