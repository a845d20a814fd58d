// SPDX-License-Identifier: Apache-2.0
import type { Finding, Rule } from "../finding.ts";

/** Switches that keep a resource or its data from being destroyed, with the value that protects. */
const switches: readonly (readonly [attribute: string, protecting: boolean])[] = [
  ["enable_deletion_protection", true],
  ["deletion_protection", true],
  ["disable_api_termination", true],
  ["force_destroy", false],
];

/** Protection that is taken away: the plan after this one can destroy. */
export const protectionRule: Rule = (plan) =>
  plan.changes.flatMap(({ action, address, before, after }): Finding[] =>
    action !== "update"
      ? []
      : switches
          .filter(([name, protecting]) => before?.[name] === protecting && after?.[name] === !protecting)
          .map(([name, protecting]) => ({
            level: "caution",
            title: "Protection removed",
            address,
            sentence: `${name} goes from ${protecting} to ${!protecting}.`,
          })),
  );
