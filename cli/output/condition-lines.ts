// SPDX-License-Identifier: Apache-2.0
import { type Condition, conditionText, isGood } from "../../watch/index.ts";
import { ageOf } from "../../workspace/amounts.ts";

/** How many conditions are good, then those that are not, with the time since when. None for none. */
export function conditionLines(conditions: readonly Condition[], now: Date): readonly string[] {
  if (conditions.length === 0) return [];
  const bad = conditions.filter((condition) => !isGood(condition));
  const age = ({ lastTransitionTime }: Condition) => ageOf(Math.max(0, now.getTime() - Date.parse(lastTransitionTime)));
  return [
    `${conditions.length - bad.length} of ${conditions.length} conditions OK`,
    ...bad.map((condition) => `  ${conditionText(condition)} (${age(condition)})`),
  ];
}
