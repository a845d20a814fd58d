// SPDX-License-Identifier: Apache-2.0
import { findBackup } from "../engine/backup/index.ts";
import { nextRun } from "../model/cron.ts";
import { TalosError } from "../talos/errors.ts";
import { ageOf } from "./amounts.ts";
import { findBackups } from "./backups.ts";
import type { Workspace } from "./workspace.ts";

/** How old the newest backup of an environment is, and whether that is too old. Never throws: not knowing is a state. */
export type BackupStatus = {
  readonly place?: string;
  /** Name of the newest backup. */
  readonly last?: string;
  readonly ageSeconds?: number;
  /** Size of the newest backup. */
  readonly bytes?: number;
  /** What is wrong; absent when nothing is. */
  readonly problem?: string;
  /** The place could not be read, so that nothing is known. */
  readonly unreadable?: true;
};

/** Undefined when the environment says nothing of backups. */
export async function backupStatus(workspace: Workspace): Promise<BackupStatus | undefined> {
  const { context } = workspace;
  try {
    const opened = await findBackups(workspace);
    if (opened === undefined) return undefined;
    const { section, cluster, store, cas } = opened;
    const { id, takenAt, bytes } = await findBackup(store, cluster, "latest", { cas, signal: context.signal });
    const now = context.clock.now();
    const ageSeconds = Math.floor((now.getTime() - takenAt.getTime()) / 1000);
    const late = section.schedule !== undefined && missedTwo(section.schedule, section.timeZone, takenAt, now);
    const problem = late ? { problem: "the schedule was missed twice" } : {};
    return { place: store.place, last: id, ageSeconds, bytes, ...problem };
  } catch (error) {
    const { message, code } = TalosError.from(error);
    return { problem: message, ...(code === "not-found" ? {} : { unreadable: true as const }) };
  }
}

/** One time may just be on its way. */
function missedTwo(cron: string, timeZone: string, takenAt: Date, now: Date): boolean {
  const first = nextRun({ cron, timeZone }, takenAt);
  const second = first && nextRun({ cron, timeZone }, first);
  return second !== undefined && second < now;
}

/** One line for a person. */
export function backupLine({ last, ageSeconds = 0, problem }: BackupStatus): string {
  if (last === undefined) return `backup: none: ${problem}`;
  return `backup: ${last}, ${ageOf(ageSeconds * 1000)} old${problem === undefined ? "" : `: ${problem}`}`;
}
