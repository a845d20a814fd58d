// SPDX-License-Identifier: Apache-2.0
import type { ClusterEvent } from "../../talos/cluster/index.ts";
import type { CommandContext } from "../context.ts";

const marks: Readonly<Partial<Record<ClusterEvent["type"], string>>> = {
  "step-finished": "✓",
  "step-failed": "✗",
  waiting: "…",
  warning: "!",
  healthy: "✓",
};

/** The engine's events as one plain line each; the start of a step is not worth one. */
export function progressLines(context: CommandContext): (event: ClusterEvent) => void {
  return ({ type, message }) => {
    const mark = marks[type];
    if (mark !== undefined) context.stderr.write(`  ${mark} ${message}\n`);
  };
}
