// SPDX-License-Identifier: Apache-2.0
import { existsSync } from "node:fs";
import type { SimulatedMachine } from "../../simulator/control/index.ts";
import type { MachineSpec } from "../../talos/cluster/index.ts";
import { controlPlanePool, type Environment, machinesOf } from "../../talos/environment/index.ts";
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

/** Machines of this cluster that its file does not ask for any more: they are to leave before they are removed. */
export async function surplusMachines(root: string, environment: Environment): Promise<readonly MachineSpec[]> {
  const wanted = new Set(machinesOf(environment).map(({ name }) => name));
  const controlPlane = `${environment.cluster.name}-${controlPlanePool}-`;
  return (await existingMachines(root, environment))
    .filter(({ name }) => !wanted.has(name))
    .map(({ name, address, fingerprint }) => {
      const role = name.startsWith(controlPlane) ? "controlplane" : "worker";
      return { name, role, address, fingerprint };
    });
}

/** Removes the machines of an environment, or only those with these names. */
export async function removeMachines(root: string, environment: Environment, names?: readonly string[]): Promise<void> {
  for (const { id, name } of await existingMachines(root, environment)) {
    if (names === undefined || names.includes(name)) await projectSimulator(root).deleteMachine(id);
  }
}

/** Asking a simulator that is not there would start one. */
async function existingMachines(root: string, environment: Environment): Promise<readonly SimulatedMachine[]> {
  if (!existsSync(simulatorDirectory(root))) return [];
  const machines = await projectSimulator(root).listMachines();
  return machines.filter(({ cluster }) => cluster === environment.cluster.name);
}
