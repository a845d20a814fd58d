// SPDX-License-Identifier: Apache-2.0
import { type Environment, formatFault, loadEnvironment } from "../model/index.ts";
import type { WorkspaceContext } from "./context.ts";
import { projectRoot } from "./project-root.ts";

/** The environment that a command is for, with its project. What is unwise in its file is told, but stops nothing. */
export function openEnvironment(
  name: string,
  context: WorkspaceContext,
): { readonly root: string; readonly environment: Environment } {
  const root = projectRoot(context.cwd, context.env);
  const environment = loadEnvironment(root, name);
  for (const warning of environment.warnings) context.stderr.write(`Warning: ${formatFault(warning)}\n\n`);
  return { root, environment };
}
