// SPDX-License-Identifier: Apache-2.0
import { rm } from "node:fs/promises";
import { hostname } from "node:os";
import { relative } from "node:path";
import { runsWithoutTerraform } from "../machine-source.ts";
import type { Workspace } from "../workspace.ts";
import { removeRecord } from "./change-record.ts";
import { putBackCutOff } from "./keep-state.ts";
import { emptyStateLock, neverWritten, stateFile } from "./state-file.ts";
import { atWork, isLocked, isPlan, type LockInfo, lockFileOf } from "./state-lock.ts";

/**
 * The lock of a first apply that was killed before it created anything; undefined where there is no such. Terraform
 * creates an empty state to lock it, and writes it with the first resource.
 */
export async function abandonedState(workspace: Workspace): Promise<LockInfo | undefined> {
  const { root, environment, context } = workspace;
  if (environment.backend.kind !== "local") return undefined;
  const path = stateFile(root, environment.name);
  const lock = await emptyStateLock(path);
  if (lock === undefined || isPlan(lock)) return undefined;
  const abandoned =
    lock.Who.endsWith(`@${hostname()}`) &&
    (await neverWritten(path)) &&
    !(await isLocked(path, context)) &&
    !(await anythingExists(workspace));
  return abandoned ? lock : undefined;
}

/** Removes what such an apply has left, and says so. */
export async function clearAbandonedState(workspace: Workspace): Promise<boolean> {
  const { root, environment, context } = workspace;
  const lock = await abandonedState(workspace);
  if (lock === undefined) return false;
  const path = stateFile(root, environment.name);
  await rm(path, { force: true });
  await rm(lockFileOf(path), { force: true });
  await removeRecord(path);
  context.stderr.write(`Removed ${relative(root, path)} and its lock. It was ${abandonedBy(lock)}.\n`);
  return true;
}

/** Before a change: removes or puts back what killed runs have left of the state. */
export async function mendState(workspace: Workspace): Promise<void> {
  if (!(await clearAbandonedState(workspace))) await putBackCutOff(workspace);
}

export function abandonedBy(lock: LockInfo): string {
  return `empty: ${atWork(lock, "was")}, and the process ended before it created anything`;
}

/** Machines that other providers make cannot be looked at without a state; before one gets a config, secrets are made. */
async function anythingExists({ environment, secrets, machines }: Workspace): Promise<boolean> {
  if (!runsWithoutTerraform(environment.kind)) return (await secrets.find()) !== undefined;
  return (await machines.configured({ unreachable: true })).length > 0;
}
