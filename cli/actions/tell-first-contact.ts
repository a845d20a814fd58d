// SPDX-License-Identifier: Apache-2.0
import { describeFirstContact, type Environment } from "../../model/index.ts";
import type { CommandContext } from "../context.ts";

/** Says how machines get their initial config, wherever a person reads what a deploy would do. */
export function tellFirstContact(environment: Environment, { stderr }: Pick<CommandContext, "stderr">): void {
  const sentence = describeFirstContact(environment);
  if (sentence !== undefined) stderr.write(`${environment.name}: ${sentence}\n`);
}
