// SPDX-License-Identifier: Apache-2.0
import { existsSync } from "node:fs";
import { rm, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { relative } from "node:path";
import type { Environment } from "../../model/index.ts";
import { configuredMachines } from "../configured-machines.ts";
import type { WorkspaceContext } from "../context.ts";
import { runsWithoutTerraform } from "../kinds.ts";
import { findSecrets } from "../secrets.ts";
import { isLocked } from "./file-lock.ts";
import { stateBackups } from "./state-backup.ts";
import { emptyStateLock, lockFileOf, stateFile } from "./state-file.ts";
import { atWork, isPlan, type LockInfo } from "./state-lock.ts";

/**
 * The lock of a first apply that was killed before it created anything; undefined where there is no such. Terraform
 * creates an empty state to lock it, and writes it with the first resource.
 */
export async function abandonedState(
  root: string,
  environment: Environment,
  context: WorkspaceContext,
): Promise<LockInfo | undefined> {
  if (environment.backend.kind !== "local") return undefined;
  const path = stateFile(root, environment.name);
  const lock = await emptyStateLock(path);
  if (lock === undefined || isPlan(lock)) return undefined;
  const abandoned =
    lock.Who.endsWith(`@${hostname()}`) &&
    (await neverWritten(path)) &&
    !(await isLocked(path, context)) &&
    !(await anythingExists(root, environment, context));
  return abandoned ? lock : undefined;
}

/** Removes what such an apply has left, and says so. */
export async function clearAbandonedState(
  root: string,
  environment: Environment,
  context: WorkspaceContext,
): Promise<boolean> {
  const lock = await abandonedState(root, environment, context);
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
async function anythingExists(root: string, environment: Environment, context: WorkspaceContext): Promise<boolean> {
  if (!runsWithoutTerraform(environment.kind)) return (await findSecrets(root, environment, context)) !== undefined;
  const { signal } = context;
  return (await configuredMachines(root, environment, { unreachable: true, signal })).length > 0;
}
