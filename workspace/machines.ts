// SPDX-License-Identifier: Apache-2.0
import { join } from "node:path";
import type { MachineSpec } from "../engine/index.ts";
import { type Environment, kindNames, machinesOf } from "../model/index.ts";
import { readTalosconfig } from "../talos/config/index.ts";
import { TalosError } from "../talos/errors.ts";
import { clientFiles } from "./client-files.ts";
import type { MachineAddress } from "./cluster-spec.ts";
import { runsWithoutTerraform } from "./kinds.ts";
import type { MachineSource } from "./machine-source.ts";
import { projectSimulator } from "./simulator.ts";

export async function ensureMachines(root: string, environment: Environment): Promise<Map<string, MachineAddress>> {
  return (await sourceOf(environment)).ensure(root, environment);
}

/** Before anything is written: refuses machines that a state of Terraform elsewhere has, where that is known. */
export async function refuseOtherOwner(root: string, environment: Environment): Promise<void> {
  await (await sourceOf(environment)).refuseOthers?.(root, environment);
}

/** The machines of an environment that exist, without making any. */
export async function findMachines(root: string, environment: Environment): Promise<Map<string, MachineAddress>> {
  return runsWithoutTerraform(environment.kind) ? (await sourceOf(environment)).find(root, environment) : new Map();
}

/** Machines of the file that a deploy makes first. */
export function absentMachines(
  environment: Environment,
  addresses: ReadonlyMap<string, MachineAddress>,
): readonly string[] {
  return machinesOf(environment).flatMap(({ name }) => (addresses.has(name) ? [] : [name]));
}

/** Whether the first machine of the file is there: a cluster is reached at it, and made before any other. */
export function isBegun(environment: Environment, addresses: ReadonlyMap<string, MachineAddress>): boolean {
  return addresses.has(machinesOf(environment)[0]?.name ?? "");
}

/** Whether `up` has made or taken in machines of this environment, or Terraform simulated ones. */
export async function hasMachines(root: string, environment: Environment): Promise<boolean> {
  return runsWithoutTerraform(environment.kind) && (await sourceOf(environment)).has(root, environment);
}

/**
 * Throws where the file has another kind than the machines that were made for it, or names a simulated cluster anew: the
 * old machines would be forgotten, and run on.
 */
export async function refuseOtherKind(root: string, environment: Environment): Promise<void> {
  const refuse = (what: string, before: string, after: string) => {
    throw new TalosError(
      "failed-precondition",
      `${what} cannot change in a running cluster: it is ${before} and would become ${after}`,
      { hint: `Set it back to ${before}, or destroy the cluster first: talosmith destroy ${environment.name}` },
    );
  };
  for (const kind of kindNames.filter(runsWithoutTerraform))
    if (kind !== environment.kind && (await (await sourceOf(environment, kind)).has(root, environment)))
      refuse("infrastructure.kind", kind, environment.kind);
  if (environment.kind !== "simulated") return;
  const file = join(root, clientFiles(environment.name).talosconfig);
  const { context: before } = await readTalosconfig(file, { missing: "empty" });
  const { name } = environment.cluster;
  if (before === "" || before === name) return;
  const machines = await projectSimulator(root).listMachines();
  if (machines.some(({ cluster }) => cluster === before)) refuse("cluster.name", before, name);
}

/** Machines of this cluster that its file does not ask for any more: they are to leave before they are removed. */
export async function surplusMachines(root: string, environment: Environment): Promise<readonly MachineSpec[]> {
  return runsWithoutTerraform(environment.kind) ? (await sourceOf(environment)).surplus(root, environment) : [];
}

/** Removes the machines of an environment, or only those with these names. */
export async function removeMachines(root: string, environment: Environment, names?: readonly string[]): Promise<void> {
  await (await sourceOf(environment)).remove(root, environment, names);
}

async function sourceOf({ name, kind: own }: Environment, kind = own): Promise<MachineSource> {
  switch (kind) {
    case "simulated":
      return (await import("./simulated-machines.ts")).simulatedMachines;
    case "metal":
      return (await import("./metal-machines.ts")).metalMachines;
    default:
      throw new TalosError("failed-precondition", `machines of kind ${kind} are made by terraform or tofu`, {
        hint: `Put one of them on the PATH, then: talosmith deploy ${name}`,
      });
  }
}
