// SPDX-License-Identifier: Apache-2.0
import { listEnvironments } from "../model/index.ts";
import { TalosError } from "../talos/errors.ts";
import type { WorkspaceContext } from "./context.ts";
import { projectRoot } from "./project-root.ts";

/** The names of the project's environments; outside of a project there are none. */
export function environmentsHere({ cwd, env }: Pick<WorkspaceContext, "cwd" | "env">): readonly string[] {
  try {
    return listEnvironments(projectRoot(cwd, env));
  } catch (error) {
    if (error instanceof TalosError && error.code === "not-found") return [];
    throw error;
  }
}
