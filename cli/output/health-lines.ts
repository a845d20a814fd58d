// SPDX-License-Identifier: Apache-2.0
import type { HealthCondition } from "../../talos/cluster/index.ts";

const words = { ok: "OK", skipped: "SKIP", waiting: "...", failed: "FAILED" } as const;

interface Named {
  readonly name: string;
  /** May end in a port. */
  readonly address: string;
}

/**
 * The lines that `talosctl health` prints, with names beside addresses. What is waited for is said again as often as it
 * is told.
 */
export function healthLines(
  write: (line: string) => void,
  machines: readonly Named[],
): (condition: HealthCondition) => void {
  let last = "";
  return ({ name, state, reason }) => {
    const line = `waiting for ${name}: ${state === "ok" ? words.ok : reason === undefined ? words[state] : withNames(reason, machines)}`;
    // The reason of a failure is mostly what was just waited for.
    if (state === "failed" && line === last) return;
    last = line;
    write(line);
  };
}

/** What all checks together mean. */
export function healthVerdict(
  cluster: string,
  conditions: readonly HealthCondition[],
  machines: readonly Named[],
): string {
  const [first, ...others] = conditions.filter(({ state }) => state === "failed");
  if (first === undefined) return `${cluster} is healthy.`;
  const reason = first.reason === undefined ? "" : `: ${withNames(first.reason, machines)}`;
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  return `${cluster} is not healthy, waiting for ${first.name}${reason}${more}`;
}

function withNames(text: string, machines: readonly Named[]): string {
  let named = text;
  for (const { name, address } of machines) {
    const host = address.replace(/^([\d.]+):\d+$/, "$1");
    const pattern = host.replace(/[.[\]]/g, "\\$&");
    named = named.replace(new RegExp(`(?<![\\w.:(])${pattern}(?![\\w.]*[\\d])`, "g"), `${name} (${host})`);
  }
  return named;
}
