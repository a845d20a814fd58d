// SPDX-License-Identifier: Apache-2.0
import { relative } from "node:path";
import type { MachineSpec } from "../engine/index.ts";
import { controlPlanePool, machinesOf } from "../model/index.ts";
import {
  machineFile,
  missingAddresses,
  noAddress,
  type Probe,
  type SimulatedMachine,
} from "../simulator/control/index.ts";
import { TalosError } from "../talos/errors.ts";
import type { MachineAddress } from "./cluster-spec.ts";
import type { EnvironmentOnDisk } from "./context.ts";
import { recordMachines, removeRecord } from "./machine-record.ts";
import type { MachineSource } from "./machine-source.ts";
import { ownerOf } from "./owner.ts";
import { projectSimulator, simulatorDirectory } from "./simulator.ts";

/** Machines of the simulator: made where they are not there yet, and taken away again. */
export const simulatedMachines: MachineSource = {
  async refuseOthers(place) {
    refuseOthers(await simulatedMachinesOf(place), ownerOf(place));
  },

  async ensure(place) {
    const { root, environment } = place;
    await requireLoopback(place);
    const simulator = projectSimulator(root);
    const { name: cluster, talosVersion } = environment.cluster;
    const addresses = new Map<string, MachineAddress>();
    const files: string[] = [];
    for (const { name } of machinesOf(environment)) {
      const { id, address, fingerprint } = await simulator.createMachine({ name, cluster, talosVersion });
      addresses.set(name, { address, fingerprint });
      files.push(relative(root, machineFile(simulatorDirectory(root), id)));
    }
    await recordMachines(root, environment, [], files);
    return addresses;
  },

  async find(place) {
    const machines = await simulatedMachinesOf(place);
    return new Map(machines.map(({ name, address, fingerprint }) => [name, { address, fingerprint }]));
  },

  has: async (place) => (await simulatedMachinesOf(place)).length > 0,

  async madeByTerraform(place) {
    const own = ownerOf(place);
    return (await simulatedMachinesOf(place)).some(({ owner }) => owner === own);
  },

  async surplus(place) {
    const { environment } = place;
    const wanted = new Set(machinesOf(environment).map(({ name }) => name));
    const controlPlane = `${environment.cluster.name}-${controlPlanePool}-`;
    return (await simulatedMachinesOf(place))
      .filter(({ name }) => !wanted.has(name))
      .map(({ name, address, fingerprint }): MachineSpec => {
        const role = name.startsWith(controlPlane) ? "controlplane" : "worker";
        return { name, role, address, fingerprint };
      });
  },

  async remove(place, names) {
    const found = await simulatedMachinesOf(place);
    const removed = found.filter(({ name }) => names === undefined || names.includes(name));
    refuseOthers(removed, ownerOf(place));
    for (const { id } of removed) await projectSimulator(place.root).deleteMachine(id);
    if (names === undefined) await removeRecord(place.root, place.environment.name);
  },
};

type Place = Pick<EnvironmentOnDisk, "root" | "environment">;

/**
 * Throws where the system lacks loopback addresses that the simulated machines of an environment need, with the commands
 * that add them. For every command that makes machines, before it makes the first.
 */
export async function requireLoopback(place: Place, probe?: Probe): Promise<void> {
  const missing = await missingLoopback(place, probe);
  if (missing.length > 0) throw noAddress(missing);
}

/** The addresses that `requireLoopback` is about. */
export async function missingLoopback({ root, environment }: Place, probe?: Probe): Promise<readonly string[]> {
  if (environment.kind !== "simulated") return [];
  const present = await projectSimulator(root).listMachines();
  const others = present.filter(({ cluster }) => cluster !== environment.cluster.name);
  const count = others.length + machinesOf(environment).length;
  return missingAddresses(simulatorDirectory(root), count, probe);
}

/** A copied project reaches the simulator of the first: what another state has is neither used nor taken away here. */
function refuseOthers(machines: readonly SimulatedMachine[], owner: string): void {
  const other = machines.find((machine) => machine.owner !== undefined && machine.owner !== owner);
  if (other === undefined) return;
  throw new TalosError("conflict", `the simulated machine ${other.name} belongs to another state: ${other.owner}`, {
    hint: `This is ${owner}. Change and destroy it through its own state.`,
  });
}

/** What the simulator has of an environment; one that has nothing is not started for it. */
export async function simulatedMachinesOf({
  root,
  environment,
}: Pick<EnvironmentOnDisk, "root" | "environment">): Promise<readonly SimulatedMachine[]> {
  const machines = await projectSimulator(root).listMachines();
  return machines.filter(({ cluster }) => cluster === environment.cluster.name);
}
