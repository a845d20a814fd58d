// SPDX-License-Identifier: Apache-2.0
import { environmentsHere } from "../../workspace/project.ts";
import type { CommandContext } from "../context.ts";

/** For who left the name of an environment out: those that there are. */
export function tellEnvironments(context: CommandContext): void {
  const names = environmentsHere(context);
  if (names.length > 0) context.stderr.write(`Environments here: ${names.join(", ")}\n`);
}
