// SPDX-License-Identifier: Apache-2.0
import type { HealthCondition } from "../../talos/cluster/index.ts";

const words = { ok: "OK", skipped: "SKIP", waiting: "...", failed: "FAILED" } as const;

/** The lines that `talosctl health` prints. What is waited for is said again as often as it is told. */
export function healthLines(write: (line: string) => void): (condition: HealthCondition) => void {
  let last = "";
  return ({ name, state, reason }) => {
    const line = `waiting for ${name}: ${state === "ok" ? words.ok : (reason ?? words[state])}`;
    // The reason of a failure is mostly what was just waited for.
    if (state === "failed" && line === last) return;
    last = line;
    write(line);
  };
}
