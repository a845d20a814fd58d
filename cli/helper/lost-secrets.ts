// SPDX-License-Identifier: Apache-2.0
import { inspectWithoutSecrets, type MachineState, type MachineTarget } from "../../talos/cluster/index.ts";
import { type Environment, machinesOf } from "../../talos/environment/index.ts";
import type { CommandContext } from "../context.ts";
import { findMachines, hasMachines, surplusMachines } from "./machines.ts";
import { findSecrets, secretsLost } from "./secrets.ts";

/**
 * Refuses to go on without the secrets file where machines run with the secrets that were in it: new secrets would not
 * fit them. Machines in maintenance mode need none.
 */
export async function refuseLostSecrets(
  root: string,
  environment: Environment,
  context: CommandContext,
): Promise<void> {
  if ((await findSecrets(root, environment, context)) !== undefined) return;
  const targets = await targetsOf(root, environment);
  if (targets.length === 0) return;
  const known = await hasMachines(root, environment);
  const states = await Promise.all(targets.map((target) => inspectWithoutSecrets(target, context.signal)));
  const configured = targets.filter((_, index) => needsSecrets(states[index], known)).map(({ name }) => name);
  if (configured.length === 0) return;
  const hint = `${configured.join(", ")}: restore the file from your backup. New secrets would not fit: they are made only for machines in maintenance mode.`;
  throw secretsLost(root, environment, hint);
}

async function targetsOf(root: string, environment: Environment): Promise<readonly MachineTarget[]> {
  const addresses = await findMachines(root, environment);
  const planned = machinesOf(environment).flatMap(({ name, role }): MachineTarget[] => {
    const found = addresses.get(name);
    return found === undefined ? [] : [{ name, role, address: found.address }];
  });
  return [...planned, ...(await surplusMachines(root, environment))];
}

/** A machine that was in the cluster and does not answer may have its config; one that boots says so later. */
function needsSecrets(state: MachineState | undefined, known: boolean): boolean {
  if (state?.kind === "unreachable") return known && state.onItsWay !== true;
  return state?.kind === "foreign";
}
