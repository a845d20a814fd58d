// SPDX-License-Identifier: Apache-2.0
import { randomBytes } from "node:crypto";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { pidExists } from "../../talos/living-process.ts";

const pattern = /^talosmith\.(?<pid>\d+)\.(?<run>[0-9a-f]+)\.(?<kind>tfplan|events)$/;

/** The name for what is told while a plan is applied. */
export function eventsBeside(plan: string): string {
  return plan.replace(/\.tfplan$/, ".events");
}

/**
 * Lends the work a name for a plan in the stack's folder that no other run has: what a person has approved is what is
 * applied, whoever else plans meanwhile. No plan stays, for it can hold what a state holds.
 */
export async function withPlanFile<T>(directory: string, work: (file: string) => Promise<T>): Promise<T> {
  await removeOrphans(directory);
  const file = `talosmith.${process.pid}.${randomBytes(4).toString("hex")}.tfplan`;
  try {
    return await work(file);
  } finally {
    await rm(join(directory, file), { force: true });
  }
}

/** The run that applies a plan in the stack's folder now, and the file in which it tells what it does. */
export async function applyingRun(
  directory: string,
): Promise<{ readonly run: string; readonly events: string } | undefined> {
  const names = await readdir(directory).catch(() => []);
  const found = names.map(partsOf).find((parts) => parts?.kind === "events" && parts.alive);
  return found && { run: found.run, events: found.name };
}

/** What runs that were killed have left. */
async function removeOrphans(directory: string): Promise<void> {
  for (const name of await readdir(directory))
    if (partsOf(name)?.alive === false) await rm(join(directory, name), { force: true });
}

function partsOf(name: string) {
  const { pid, run, kind } = pattern.exec(name)?.groups ?? {};
  return run === undefined ? undefined : { name, run, kind, alive: pidExists(Number(pid)) };
}
