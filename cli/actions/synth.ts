// SPDX-License-Identifier: Apache-2.0
import { relative } from "node:path";
import { listEnvironments } from "../../model/index.ts";
import { openEnvironment, projectRoot } from "../../workspace/project.ts";
import { prepareStack } from "../../workspace/terraform/prepare-stack.ts";
import type { CommandContext } from "../context.ts";
import { reportError } from "../output/report-error.ts";
import { tellFirstContact } from "./tell-first-contact.ts";

export async function synth(name: string | undefined, context: CommandContext): Promise<void> {
  const root = projectRoot(context.cwd, context.env);
  const known = listEnvironments(root);
  for (const environment of name === undefined ? known : [name]) {
    try {
      // A project's own app may have stacks without a file; what is unwise in a file is told, as by `plan`.
      if (known.includes(environment)) tellFirstContact(openEnvironment(environment, context).environment, context);
      const directory = await prepareStack(root, environment, context);
      context.stdout.write(`${relative(context.cwd, directory)}\n`);
    } catch (error) {
      // One environment's fault is no reason to leave the others unwritten.
      reportError(error, context);
    }
  }
}
