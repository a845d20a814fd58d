// SPDX-License-Identifier: Apache-2.0
import { parsePlan, placeholderTitle, reviewPlan } from "../../review/index.ts";

/**
 * What of a plan may lose data, access or quorum, or was copied and never replaced, as lines for people; empty when
 * nothing is. It stands below terraform's own words, of which there may be hundreds of lines, and above the question.
 */
export function dangersIn(plan: string): string {
  const lines = reviewPlan(parsePlan(plan, "the plan")).findings.flatMap(({ level, title, address, sentence }) => {
    if (level !== "danger" && title !== placeholderTitle) return [];
    return [`${level === "danger" ? "DANGER " : ""}${title}: ${address}: ${sentence}`];
  });
  return lines.length === 0 ? "" : `\n${lines.join("\n")}\n`;
}
