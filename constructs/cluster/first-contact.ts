// SPDX-License-Identifier: Apache-2.0
import type { IConstruct } from "constructs";
import { type FirstContact, firstContactProblem } from "../../talos/environment/index.ts";
import { ConstructInputError } from "../errors.ts";

/** Whether the initial config goes to whatever answers; throws unless somebody has chosen how it reaches a machine. */
export function chosenTrust(
  construct: IConstruct,
  kind: Parameters<typeof firstContactProblem>[0],
  contact: FirstContact,
): boolean {
  const problem = firstContactProblem(kind, contact);
  if (problem !== undefined)
    throw new ConstructInputError(construct, `${problem.found}; expected ${problem.expected}. ${problem.hint}`);
  return contact.trustOnFirstUse;
}
