// SPDX-License-Identifier: Apache-2.0
import { existsSync } from "node:fs";
import { rm, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { relative } from "node:path";
import { runsWithoutTerraform } from "../machine-source.ts";
import type { Workspace } from "../workspace.ts";
import { emptyStateLock, lockFileOf, stateBackups, stateFile } from "./state-file.ts";
import { atWork, isLocked, isPlan, type LockInfo } from "./state-lock.ts";

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
  context.stderr.write(`Removed ${relative(root, path)} and its lock. It was ${abandonedBy(lock)}.\n`);
  return true;
}

export function abandonedBy(lock: LockInfo): string {
  return `empty: ${atWork(lock, "was")}, and the process ended before it created anything`;
}

/** The lock's file is written after the empty state is created and locked: a state that was cut off later is newer. */
async function neverWritten(path: string): Promise<boolean> {
  const [state, lock] = await Promise.all([stat(path), stat(lockFileOf(path))]);
  return state.mtimeMs <= lock.mtimeMs && !existsSync(`${path}.backup`) && (await stateBackups(path)).length === 0;
}

/** Machines that other providers make cannot be looked at without a state; before one gets a config, secrets are made. */
async function anythingExists({ environment, secrets, machines }: Workspace): Promise<boolean> {
  if (!runsWithoutTerraform(environment.kind)) return (await secrets.find()) !== undefined;
  return (await machines.configured({ unreachable: true })).length > 0;
}
