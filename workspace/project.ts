// SPDX-License-Identifier: Apache-2.0
import {
  type Environment,
  formatFault,
  listEnvironments,
  loadEnvironment,
  loadExistingEnvironment,
  sharedWithNeighbours,
} from "../model/index.ts";
import { nearestProject } from "../model/project-root.ts";
import { TalosError } from "../talos/errors.ts";
import type { EnvironmentOnDisk, WorkspaceContext } from "./context.ts";
import { refuseUnfinishedMigration } from "./migration-journal.ts";
import { missingImages } from "./start-images.ts";

/** The user's project. Throws where there is none. */
export function projectRoot(from: string, env: WorkspaceContext["env"]): string {
  const found = nearestProject(from, env);
  if (found !== undefined) return found;
  throw new TalosError(
    "not-found",
    `no talosmith project here: neither ${from} nor a folder above it has a cdktf.json`,
    { hint: "Change to your project's folder, or set TALOSMITH_ROOT to it." },
  );
}

/** For work on a cluster that is not there. */
export function notDeployed(name: string, reason: string): TalosError {
  return new TalosError("not-found", `${name} is not deployed: ${reason}`, {
    hint: `Deploy it: talosmith deploy ${name}`,
  });
}

/** The names of the project's environments; outside of a project there are none. */
export function environmentsHere({ cwd, env }: Pick<WorkspaceContext, "cwd" | "env">): readonly string[] {
  try {
    return listEnvironments(projectRoot(cwd, env));
  } catch (error) {
    if (error instanceof TalosError && error.code === "not-found") return [];
    throw error;
  }
}

export interface OpenOptions {
  /** For what does not bring the cluster to what the file says: a broken rule is a warning then. @default false */
  readonly existing?: boolean;
}

/** The environment of this name. Throws with all errors of its file. */
export function findEnvironment(
  name: string,
  context: WorkspaceContext,
  { existing = false }: OpenOptions = {},
): EnvironmentOnDisk {
  const root = projectRoot(context.cwd, context.env);
  if (!existing) refuseUnfinishedMigration(root);
  const load = existing ? loadExistingEnvironment : loadEnvironment;
  return { root, environment: load(root, name), context };
}

/** The same for a command that changes something: what is unwise in the file is printed, but stops nothing. */
export function openEnvironment(name: string, context: WorkspaceContext, options: OpenOptions = {}): EnvironmentOnDisk {
  const found = findEnvironment(name, context, options);
  for (const warning of found.environment.warnings) context.stderr.write(`Warning: ${formatFault(warning)}\n\n`);
  for (const warning of sharedWithNeighbours(found.environment, neighboursOf(found)))
    context.stderr.write(
      `Warning: ${warning}.\n  Only one of them can run: change the network, its macPrefix, or the names of one.\n\n`,
    );
  for (const image of missingImages(found))
    context.stderr.write(`Warning: ${image}: the image that machines start from is not there.\n\n`);
  return found;
}

/** The other environments of the project; those that cannot be read are reported where they are used. */
function neighboursOf({ root, environment }: EnvironmentOnDisk): readonly Environment[] {
  return listEnvironments(root).flatMap((name) => {
    if (name === environment.name) return [];
    try {
      return [loadExistingEnvironment(root, name)];
    } catch (error) {
      if (error instanceof TalosError) return [];
      throw error;
    }
  });
}
