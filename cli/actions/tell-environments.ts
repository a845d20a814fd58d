// SPDX-License-Identifier: Apache-2.0
import { listEnvironments } from "../../talos/environment/index.ts";
import { TalosError } from "../../talos/errors.ts";
import type { CommandContext } from "../context.ts";
import { projectRoot } from "../project-root.ts";

/** For who left the name of an environment out: those that there are. Outside of a project there are none to tell. */
export function tellEnvironments(context: CommandContext): void {
  const names = environmentsHere(context);
  if (names.length > 0) context.stderr.write(`Environments here: ${names.join(", ")}\n`);
}

function environmentsHere({ cwd, env }: CommandContext): readonly string[] {
  try {
    return listEnvironments(projectRoot(cwd, env));
  } catch (error) {
    if (error instanceof TalosError && error.code === "not-found") return [];
    throw error;
  }
}
