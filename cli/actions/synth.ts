// SPDX-License-Identifier: Apache-2.0
import { relative } from "node:path";
import { listEnvironments } from "../../talos/environment/index.ts";
import type { CommandContext } from "../context.ts";
import { reportError } from "../output/report-error.ts";
import { projectRoot } from "../project-root.ts";
import { prepareStack } from "../terraform/prepare-stack.ts";

export async function synth(name: string | undefined, context: CommandContext): Promise<void> {
  const root = projectRoot(context.cwd, context.env);
  for (const environment of name === undefined ? listEnvironments(root) : [name]) {
    try {
      const directory = await prepareStack(root, environment, context);
      context.stdout.write(`${relative(context.cwd, directory)}\n`);
    } catch (error) {
      // One environment's fault is no reason to leave the others unwritten.
      reportError(error, context);
    }
  }
}
