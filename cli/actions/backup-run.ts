// SPDX-License-Identifier: Apache-2.0
import { pruneBackups, runSchedule, type Schedule } from "../../engine/backup/index.ts";
import { systemTiming } from "../../engine/index.ts";
import { loadEnvironment } from "../../model/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { openBackups, takeBackup } from "../../workspace/backups.ts";
import { openWorkspace } from "../../workspace/workspace.ts";
import type { CommandContext } from "../context.ts";

/** The scheduled backups of one environment, in the foreground. */
export async function run(name: string, context: CommandContext): Promise<void> {
  const { workspace, section } = await openBackups(openWorkspace(name, context, { warn: true }));
  const tell = (message: string) => context.stderr.write(`${context.clock.now().toISOString()} ${message}\n`);
  if (section.schedule === undefined) {
    throw new TalosError("failed-precondition", `${name} has no backup.schedule`, {
      hint: 'Add one to its file, such as schedule: "0 3 * * *".',
    });
  }
  await runSchedule({
    schedule: () => scheduleOf(workspace.root, name),
    run: async () => {
      const backups = await openBackups(openWorkspace(name, context));
      const backup = await takeBackup(backups, (reason) => tell(`again after: ${reason}`));
      tell(`${backup.id}: revision ${backup.revision}, ${backup.bytes} bytes`);
      const removed = await pruneBackups(backups.store, backups.cluster, backups.section.keep, context.clock.now(), {
        signal: context.signal,
      });
      for (const { id } of removed) tell(`${id}: removed`);
    },
    onFailure: ({ message, hint }) => tell(`failed: ${message}${hint === undefined ? "" : ` ${hint}`}`),
    onNext: (at) => tell(at === undefined ? "no schedule" : `next backup at ${at.toISOString()}`),
    clock: context.clock,
    entropy: context.entropy,
    timing: systemTiming,
    signal: context.signal,
  });
}

function scheduleOf(root: string, name: string): Schedule | undefined {
  const { backup } = loadEnvironment(root, name);
  if (backup?.schedule === undefined) return undefined;
  return { cron: backup.schedule, timeZone: backup.timeZone, jitter: backup.jitter };
}
