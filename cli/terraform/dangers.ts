// SPDX-License-Identifier: Apache-2.0
import { parsePlan, reviewPlan } from "../../review/index.ts";

/**
 * What of a plan may lose data, access or quorum, as lines for people; empty when nothing does. It stands below
 * terraform's own words, of which there may be hundreds of lines, and above the question.
 */
export function dangersIn(plan: string): string {
  const dangers = reviewPlan(parsePlan(plan, "the plan")).findings.filter(({ level }) => level === "danger");
  const lines = dangers.map(({ title, address, sentence }) => `DANGER ${title}: ${address}: ${sentence}`);
  return lines.length === 0 ? "" : `\n${lines.join("\n")}\n`;
}
