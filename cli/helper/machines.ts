// SPDX-License-Identifier: Apache-2.0
import { existsSync } from "node:fs";
import type { SimulatedMachine } from "../../simulator/control/index.ts";
import { type Environment, machinesOf } from "../../talos/environment/index.ts";
import { TalosError } from "../../talos/errors.ts";
import type { MachineAddress } from "./cluster-spec.ts";
import { projectSimulator, simulatorDirectory } from "./simulator.ts";

/** Makes the simulated machines of an environment where they are not there yet. */
export async function ensureMachines(root: string, environment: Environment): Promise<Map<string, MachineAddress>> {
  if (environment.kind !== "simulated") {
    throw new TalosError("failed-precondition", `machines of kind ${environment.kind} are made by terraform or tofu`, {
      hint: `Put one of them on the PATH, then: talosmith deploy ${environment.name}`,
    });
  }
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
  const machines = await existingMachines(root, environment);
  return new Map(machines.map(({ name, address, fingerprint }) => [name, { address, fingerprint }]));
}

export async function removeMachines(root: string, environment: Environment): Promise<void> {
  for (const { id } of await existingMachines(root, environment)) await projectSimulator(root).deleteMachine(id);
}

/** Asking a simulator that is not there would start one. */
async function existingMachines(root: string, environment: Environment): Promise<readonly SimulatedMachine[]> {
  if (!existsSync(simulatorDirectory(root))) return [];
  const machines = await projectSimulator(root).listMachines();
  return machines.filter(({ cluster }) => cluster === environment.cluster.name);
}
