// SPDX-License-Identifier: Apache-2.0
import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { pidExists } from "../../talos/living-process.ts";

const pattern = /^talosmith\.(?<pid>\d+)\.(?<run>[0-9a-f]+)\.(?:tfplan|(?<action>deploy|destroy)\.events)$/;

export type RunAction = "deploy" | "destroy";

/** The name for what is told while a plan is applied. */
export function eventsBeside(plan: string, action: RunAction): string {
  return plan.replace(/\.tfplan$/, `.${action}.events`);
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

/** The talosmith that a word of terraform's command line, such as `-out=talosmith.812.0a1b2c3d.tfplan`, tells of. */
export function starterOf(word: string): number | undefined {
  const pid = pattern.exec(word.replace(/^-out=/, ""))?.groups?.pid;
  return pid === undefined ? undefined : Number(pid);
}

export interface ApplyingRun {
  readonly run: string;
  readonly action: RunAction;
  readonly events: string;
}

/** The run of another process that applies a plan in the stack's folder now, and the file in which it reports. */
export function applyingRun(directory: string): ApplyingRun | undefined {
  for (const name of namesIn(directory)) {
    const { run, action, alive, isOwn } = partsOf(name) ?? {};
    if (run !== undefined && action !== undefined && alive && !isOwn) return { run, action, events: name };
  }
  return undefined;
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/** What runs that were killed have left. */
async function removeOrphans(directory: string): Promise<void> {
  for (const name of await readdir(directory))
    if (partsOf(name)?.alive === false) await rm(join(directory, name), { force: true });
}

function partsOf(name: string) {
  const { pid, run, action } = pattern.exec(name)?.groups ?? {};
  return run === undefined
    ? undefined
    : {
        run,
        action: action as RunAction | undefined,
        alive: pidExists(Number(pid)),
        isOwn: Number(pid) === process.pid,
      };
}
