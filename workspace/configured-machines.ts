// SPDX-License-Identifier: Apache-2.0
import { inspectWithoutSecrets, type MachineState, type MachineTarget } from "../engine/index.ts";
import { type Environment, machinesOf } from "../model/index.ts";
import { findMachines, surplusMachines } from "./machines.ts";

/**
 * Names of existing machines that have a config, of whichever cluster, found without any secrets. `unreachable` says
 * whether one that does not answer counts; one that boots does not.
 */
export async function configuredMachines(
  root: string,
  environment: Environment,
  { unreachable, signal }: { readonly unreachable: boolean; readonly signal: AbortSignal },
): Promise<readonly string[]> {
  const targets = await targetsOf(root, environment);
  const states = await Promise.all(targets.map((target) => inspectWithoutSecrets(target, signal)));
  return targets.filter((_, index) => isConfigured(states[index], unreachable)).map(({ name }) => name);
}

async function targetsOf(root: string, environment: Environment): Promise<readonly MachineTarget[]> {
  const addresses = await findMachines(root, environment);
  const planned = machinesOf(environment).flatMap(({ name, role }): MachineTarget[] => {
    const found = addresses.get(name);
    return found === undefined ? [] : [{ name, role, address: found.address }];
  });
  return [...planned, ...(await surplusMachines(root, environment))];
}

function isConfigured(state: MachineState | undefined, unreachable: boolean): boolean {
  if (state?.kind === "unreachable") return unreachable && state.onItsWay !== true;
  return state?.kind === "foreign";
}
