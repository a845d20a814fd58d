// SPDX-License-Identifier: Apache-2.0
import type { CheckResult } from "../../engine/index.ts";

const words = { ok: "OK", skipped: "SKIP", waiting: "...", failed: "FAILED" } as const;

/** The lines that `talosctl health` prints. What is waited for is said again as often as it is told. */
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
