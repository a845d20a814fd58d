// SPDX-License-Identifier: Apache-2.0
import { type CheckResult, checkHealth } from "../../engine/index.ts";
import { type BackupStatus, backupLine, backupStatus } from "../../workspace/backups.ts";
import { openWorkspace } from "../../workspace/workspace.ts";
import type { CommandContext } from "../context.ts";
import { jsonLine } from "../output/table.ts";
import { forRun } from "./change.ts";

export async function health(
  name: string,
  { waitTimeout, json, kubernetes }: { waitTimeout: number; json: boolean; kubernetes: boolean },
  context: CommandContext,
): Promise<void> {
  const workspace = forRun(openWorkspace(name, context), { kubernetes });
  const { desired, secrets } = await workspace.deployed();
  const plain = healthLines((line) => context.stderr.write(`${line}\n`));
  const report = (type: "check" | "backup", found: CheckResult | BackupStatus) =>
    context.stdout.write(jsonLine({ v: 1, at: context.clock.now().toISOString(), type, ...found }));
  // Whoever reads only the beginning still wants to know from the exit code.
  context.stdout.onlyTells?.();
  const { healthy, checks } = await checkHealth({
    desired,
    secrets,
    policy: workspace.policy,
    signal: context.signal,
    wait: waitTimeout > 0,
    timeouts: { health: waitTimeout },
    onCheck: json ? (check) => report("check", check) : plain,
  });
  const backup = await backupStatus(workspace);
  if (backup !== undefined && json) report("backup", backup);
  else if (backup !== undefined) context.stderr.write(`${backupLine(backup)}\n`);
  if (!json) context.stderr.write(`${healthVerdict(name, checks)}\n`);
  if (!healthy) context.exit(1);
}

const words = { ok: "OK", skipped: "SKIP", waiting: "...", failed: "FAILED" } as const;

/** The lines that `talosctl health` prints. A check that is waited for is printed each time it is reported. */
export function healthLines(write: (line: string) => void): (check: CheckResult) => void {
  let last = "";
  return ({ name, state, reason }) => {
    const line = `waiting for ${name}: ${state === "ok" ? words.ok : (reason ?? words[state])}`;
    // The reason of a failure is mostly what was just waited for.
    if (state === "failed" && line === last) return;
    last = line;
    write(line);
  };
}

/** What all checks together mean. */
export function healthVerdict(cluster: string, checks: readonly CheckResult[]): string {
  const [first, ...others] = checks.filter(({ state }) => state === "failed");
  if (first === undefined) return `${cluster} is healthy.`;
  const reason = first.reason === undefined ? "" : `: ${first.reason}`;
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  return `${cluster} is not healthy, waiting for ${first.name}${reason}${more}`;
}
