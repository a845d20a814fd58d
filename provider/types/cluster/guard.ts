// SPDX-License-Identifier: Apache-2.0
import type { Step } from "../../../engine/index.ts";
import { DiagnosticError } from "../../framework/index.ts";

/**
 * Keeps an apply from destroying what its plan did not say. The engine plans again from what it sees, and the world may
 * have moved since: whatever it then finds to do may be done, but no data is thrown away that nobody was asked about.
 * `expected` are machines of which the plan says that they go or come anew.
 */
export function refuseUnplanned(
  planned: readonly string[],
  expected: readonly string[],
): (steps: readonly Step[]) => void {
  const sentences = planned.map((line) => line.replace(/^\d+\. /, ""));
  const allowed = new Set(expected);
  return (steps) => {
    const destructive = steps.filter((step) => step.destructive);
    for (const { sentence, machine } of destructive) if (sentences.includes(sentence)) allowed.add(machine);
    const surprising = destructive.filter(({ machine }) => !allowed.has(machine));
    if (surprising.length === 0) return;
    throw new DiagnosticError({
      summary: "Not what was planned",
      detail: `Since the plan was made something has changed, and the apply would have to:\n${surprising.map(({ sentence }) => `- ${sentence}`).join("\n")}\n\nNothing was done. Plan again (with refresh) to see and approve it.`,
    });
  };
}
