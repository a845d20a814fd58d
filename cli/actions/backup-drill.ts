// SPDX-License-Identifier: Apache-2.0
import { openBackups } from "../../workspace/backups.ts";
import { drillBackup, drillVerdict } from "../../workspace/drill.ts";
import { openWorkspace } from "../../workspace/workspace.ts";
import type { CommandContext } from "../context.ts";
import { withProgress } from "../output/progress.ts";

/** A backup restored into a simulator of its own: what comes out must be what went in. */
export async function drill(
  name: string,
  which: string,
  { json }: { json: boolean },
  context: CommandContext,
): Promise<void> {
  const opened = await openBackups(openWorkspace(name, context, { warn: true }));
  const done = await withProgress(context, { json }, (events) => drillBackup(opened, which, events));
  if (json) {
    const { backup, same } = done;
    const facts = ({ revision, hash, entries }: typeof done.restored) => ({ revision, hash, entries });
    context.stdout.write(
      `${JSON.stringify({ v: 1, type: "drill", backup: backup.id, same, expected: facts(backup), restored: facts(done.restored) })}\n`,
    );
  }
  const verdict = drillVerdict(done);
  if (!json) context.stdout.write(`${verdict}\n`);
}
