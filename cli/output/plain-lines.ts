// SPDX-License-Identifier: Apache-2.0
import type { ClusterEvent, ToldEvent } from "../../engine/index.ts";
import { oneLine } from "../../talos/plain-text.ts";

const marks: Readonly<Partial<Record<ClusterEvent["type"], string>>> = {
  "step-finished": "✓",
  "step-failed": "✗",
  waiting: "…",
  warning: "!",
  healthy: "✓",
};

/** The engine's events as one line each. The start of a step is not worth one. */
export function plainLines(
  write: (line: string) => void,
): (event: Pick<ToldEvent, "type" | "message" | "machine">) => void {
  return ({ type, message, machine }) => {
    const mark = marks[type];
    if (mark === undefined) return;
    const about = machine === undefined || message.includes(machine) ? "" : `${machine}: `;
    write(`  ${mark} ${oneLine(about + message)}`);
  };
}
