// SPDX-License-Identifier: Apache-2.0
import { firstContactOf, firstContactProblem } from "../environment/first-contact.ts";
import { error, type Rule } from "./rule.ts";

/** Machines whose certificates are not known beforehand: the file says how they get their initial config. */
export const firstContactChosen: Rule = (environment) => {
  const { kind } = environment;
  if (kind === "simulated" || kind === "metal") return [];
  const problem = firstContactProblem(kind, firstContactOf(environment));
  return problem === undefined ? [] : [error({ path: ["infrastructure"], ...problem })];
};
