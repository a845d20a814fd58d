// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../../talos/errors.ts";
import { given } from "../../talos/given.ts";
import { publicKeyFingerprint } from "../../talos/pki/index.ts";
import { defaultTalosVersion, TalosVersion } from "../../talos/version/index.ts";
import type { Fault } from "../control/fault-schema.ts";
import type { CreateMachine, SimulatedMachine } from "../control/protocol.ts";
import { machineStatus } from "../controllers/machine-status.ts";
import { restart, switchOff } from "../controllers/power.ts";
import { serverModeOf } from "../machine/listening-ports.ts";
import { readNodeConfig } from "../machine/node-config.ts";
import { type Identity, type Machine, withMachine, withoutMachine } from "../machine/world.ts";
import { createMachine } from "../operations/create-machine.ts";
import type { Simulation } from "../simulation.ts";

/** Reading a certificate takes a while, and a machine keeps its own. */
const fingerprints = new WeakMap<Identity, string>();

function fingerprintOf(identity: Identity): string {
  const fingerprint = fingerprints.get(identity) ?? publicKeyFingerprint(identity.certificate);
  fingerprints.set(identity, fingerprint);
  return fingerprint;
}

/** How a new machine gets its address. */
export type Allocate = (taken: ReadonlySet<string>) => Promise<string>;

/** What the owner of the machines can do with them, apart from the machines' own API. */
export class Simulator {
  readonly #simulation: Simulation;
  readonly #allocate: Allocate;
  readonly #problemOf: (id: string) => string | undefined;
  /** Creations run one after the other: two must not get the same address. */
  #creating: Promise<unknown> = Promise.resolve();

  constructor(
    simulation: Simulation,
    allocate: Allocate,
    problemOf: (id: string) => string | undefined = () => undefined,
  ) {
    this.#simulation = simulation;
    this.#allocate = allocate;
    this.#problemOf = problemOf;
  }

  async createMachine(input: CreateMachine): Promise<SimulatedMachine> {
    const creation = this.#creating.then(() => this.#create(input));
    this.#creating = creation.catch(() => undefined);
    const { id } = await creation;
    // Whoever made it will talk to it next, so it is handed over when it can be talked to.
    await this.#simulation.until((world) => {
      const current = world.machines[id];
      return current === undefined || current.life.stage === "off" || serverModeOf(current) !== "none";
    });
    return this.#describe(this.#existing(id));
  }

  async #create(input: CreateMachine): Promise<Machine> {
    const known = this.#machines().find((machine) => machine.cluster === input.cluster && machine.name === input.name);
    if (known !== undefined) return this.#claimed(known, input.owner);
    if (!/^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/.test(input.name)) {
      throw new TalosError("invalid-input", `machine name ${JSON.stringify(input.name)} is not a DNS name`, {
        hint: "use lower-case letters, digits and dashes, at most 63",
      });
    }
    const talosVersion = TalosVersion.parse(input.talosVersion ?? defaultTalosVersion.toString()).toString();
    const address = await this.#allocate(new Set(this.#machines().map((machine) => machine.address)));
    return this.#simulation.act((world, moment) => createMachine(world, { ...input, address, talosVersion }, moment))
      .machine;
  }

  /** The machine, with its owner; one that nobody owns gets the one who asks. */
  #claimed(machine: Machine, owner: string | undefined): Machine {
    if (owner === undefined || machine.owner === owner) return machine;
    if (machine.owner !== undefined)
      throw new TalosError(
        "conflict",
        `the simulated machine ${machine.name} belongs to another state: ${machine.owner}`,
        {
          hint: `This is ${owner}. Two states over the same machines would undo each other's work, and destroy each other's cluster. Choose another cluster name, or take the machine over: terraform import talosmith_simulated_machine.<name> ${machine.id}, and terraform state rm in the other one.`,
        },
      );
    return this.setOwner(machine.id, owner);
  }

  setOwner(id: string, owner: string): Machine {
    const owned = { ...this.#existing(id), owner };
    this.#simulation.act((world) => ({ world: withMachine(world, owned) }));
    return owned;
  }

  getMachine(id: string): SimulatedMachine | undefined {
    const machine = this.#simulation.world.machines[id];
    return machine === undefined ? undefined : this.#describe(machine);
  }

  listMachines(): readonly SimulatedMachine[] {
    return this.#machines()
      .sort((a, b) => (a.cluster + a.name < b.cluster + b.name ? -1 : 1))
      .map((machine) => this.#describe(machine));
  }

  deleteMachine(id: string): void {
    this.#simulation.update((world) => withoutMachine(world, id));
  }

  setPower(id: string, on: boolean): void {
    this.#simulation.update((world, moment) => {
      const machine = this.#existing(id);
      const off = machine.life.stage === "off";
      return off === on ? withMachine(world, on ? restart(machine, moment) : switchOff(machine)) : world;
    });
  }

  setFaults(id: string, faults: readonly Fault[]): void {
    this.#simulation.update((world) => withMachine(world, { ...this.#existing(id), faults }));
  }

  setUserData(id: string, userData: string | undefined): void {
    // Throws for a text that no machine would boot with.
    if (userData !== undefined) readNodeConfig(userData);
    this.#simulation.update((world) => withMachine(world, given({ ...this.#existing(id), userData })));
  }

  #existing(id: string): Machine {
    const machine = this.#simulation.world.machines[id];
    if (machine === undefined) throw new TalosError("not-found", `there is no simulated machine ${id}`);
    return machine;
  }

  #machines(): Machine[] {
    return Object.values(this.#simulation.world.machines);
  }

  #describe(machine: Machine): SimulatedMachine {
    const { stage, ready } = machineStatus(this.#simulation.world, machine, this.#simulation.moment.now);
    return {
      id: machine.id,
      name: machine.name,
      cluster: machine.cluster,
      owner: machine.owner,
      address: machine.address,
      fingerprint: fingerprintOf(machine.maintenance),
      stage: machine.life.stage === "off" ? "off" : stage,
      ready,
      talosVersion: machine.talosVersion,
      faults: machine.faults.map(({ kind }) => kind),
      problem: this.#problemOf(machine.id),
    };
  }
}
