// SPDX-License-Identifier: Apache-2.0
import { type Environment, formatFault, loadEnvironment, loadExistingEnvironment } from "../talos/environment/index.ts";
import type { CommandContext } from "./context.ts";
import { projectRoot } from "./project-root.ts";

interface Opened {
  readonly root: string;
  readonly environment: Environment;
}

/** The environment that a command is for, with its project. What is unwise in its file is told, but stops nothing. */
export function openEnvironment(name: string, context: CommandContext): Opened {
  return open(name, context, loadEnvironment);
}

/** The same for commands that do not bring the cluster to what the file says: a broken rule stops none of them. */
export function openExistingEnvironment(name: string, context: CommandContext): Opened {
  return open(name, context, loadExistingEnvironment);
}

function open(name: string, context: CommandContext, load: (root: string, name: string) => Environment): Opened {
  const root = projectRoot(context.cwd, context.env);
  const environment = load(root, name);
  for (const warning of environment.warnings) context.stderr.write(`Warning: ${formatFault(warning)}\n\n`);
  return { root, environment };
}
