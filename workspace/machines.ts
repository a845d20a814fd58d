// SPDX-License-Identifier: Apache-2.0
import { join } from "node:path";
import { inspectWithoutSecrets, type MachineSpec, type MachineState, type MachineTarget } from "../engine/index.ts";
import { type Environment, type Kind, kindNames, machinesOf } from "../model/index.ts";
import { readTalosconfig } from "../talos/config/index.ts";
import { TalosError } from "../talos/errors.ts";
import { clientFilePaths } from "./client-files.ts";
import type { MachineAddress } from "./cluster-spec.ts";
import type { EnvironmentOnDisk } from "./context.ts";
import { type MachineSource, runsWithoutTerraform } from "./machine-source.ts";
import { projectSimulator } from "./simulator.ts";

export type MachineAddresses = ReadonlyMap<string, MachineAddress>;

/** Machines of the file that a deploy makes first. */
export function absentMachines(environment: Environment, addresses: MachineAddresses): readonly string[] {
  return machinesOf(environment).flatMap(({ name }) => (addresses.has(name) ? [] : [name]));
}

/** Whether the first machine of the file is there: a cluster is reached at it, and made before any other. */
export function isBegun(environment: Environment, addresses: MachineAddresses): boolean {
  return addresses.has(machinesOf(environment)[0]?.name ?? "");
}

/** The machines of an environment. They come and go under other runs: each call asks where they come from. */
export class EnvironmentMachines {
  readonly #place: EnvironmentOnDisk;

  constructor(place: EnvironmentOnDisk) {
    this.#place = place;
  }

  /** All machines of the file, made where they are not there yet. */
  async ensure(): Promise<MachineAddresses> {
    return (await this.#source()).ensure(this.#place);
  }

  /** Those that exist, without making any. Of kinds that Terraform makes, its state knows them. */
  async find(): Promise<MachineAddresses> {
    return this.#isOurs ? (await this.#source()).find(this.#place) : new Map();
  }

  /** Whether `up` has made or taken in machines of this environment, or Terraform simulated ones. */
  async has(): Promise<boolean> {
    return this.#isOurs && (await this.#source()).has(this.#place);
  }

  /** Whether Terraform has made any with the state of this environment, whatever that has now. */
  async madeByTerraform(): Promise<boolean> {
    return this.#isOurs && ((await (await this.#source()).madeByTerraform?.(this.#place)) ?? false);
  }

  /** Machines of this cluster that its file does not ask for any more: they are to leave before they are removed. */
  async surplus(): Promise<readonly MachineSpec[]> {
    return this.#isOurs ? (await this.#source()).surplus(this.#place) : [];
  }

  /** Removes all machines of the environment, or only those with these names. */
  async remove(names?: readonly string[]): Promise<void> {
    await (await this.#source()).remove(this.#place, names);
  }

  /** Before anything is written: refuses machines that a state of Terraform elsewhere has, where that is known. */
  async refuseOtherOwner(): Promise<void> {
    await (await this.#source()).refuseOthers?.(this.#place);
  }

  /**
   * Throws where the file has another kind than the machines that were made for it, or names a simulated cluster anew: the
   * old machines would be forgotten, and run on.
   */
  async refuseOtherKind(): Promise<void> {
    const { root, environment } = this.#place;
    for (const kind of kindNames.filter(runsWithoutTerraform))
      if (kind !== environment.kind && (await (await this.#source(kind)).has(this.#place)))
        throw immutable(environment, "infrastructure.kind", kind, environment.kind);
    if (environment.kind !== "simulated") return;
    const file = join(root, clientFilePaths(environment.name).talosconfig);
    const { context: before } = await readTalosconfig(file, { missing: "empty" });
    const { name } = environment.cluster;
    if (before === "" || before === name) return;
    const machines = await projectSimulator(root).listMachines();
    if (machines.some(({ cluster }) => cluster === before)) throw immutable(environment, "cluster.name", before, name);
  }

  /**
   * Names of existing machines that have a config, of whichever cluster, found without any secrets. `unreachable` says
   * whether one that does not answer counts; one that boots does not.
   */
  async configured({ unreachable }: { readonly unreachable: boolean }): Promise<readonly string[]> {
    const targets = await this.#targets();
    const { signal } = this.#place.context;
    const states = await Promise.all(targets.map((target) => inspectWithoutSecrets(target, signal)));
    return targets.filter((_, index) => isConfigured(states[index], unreachable)).map(({ name }) => name);
  }

  async #targets(): Promise<readonly MachineTarget[]> {
    const addresses = await this.find();
    const planned = machinesOf(this.#place.environment).flatMap(({ name, role }): MachineTarget[] => {
      const found = addresses.get(name);
      return found === undefined ? [] : [{ name, role, address: found.address }];
    });
    return [...planned, ...(await this.surplus())];
  }

  get #isOurs(): boolean {
    return runsWithoutTerraform(this.#place.environment.kind);
  }

  async #source(kind: Kind = this.#place.environment.kind): Promise<MachineSource> {
    switch (kind) {
      case "simulated":
        return (await import("./simulated-machines.ts")).simulatedMachines;
      case "metal":
        return (await import("./metal-machines.ts")).metalMachines;
      default:
        throw new TalosError("failed-precondition", `machines of kind ${kind} are made by terraform or tofu`, {
          hint: `Put one of them on the PATH, then: talosmith deploy ${this.#place.environment.name}`,
        });
    }
  }
}

function immutable({ name }: Environment, what: string, before: string, after: string): TalosError {
  return new TalosError(
    "failed-precondition",
    `${what} cannot change in a running cluster: it is ${before} and would become ${after}`,
    { hint: `Set it back to ${before}, or destroy the cluster first: talosmith destroy ${name}` },
  );
}

function isConfigured(state: MachineState | undefined, unreachable: boolean): boolean {
  if (state?.kind === "unreachable") return unreachable && state.onItsWay !== true;
  return state?.kind === "foreign";
}
