// SPDX-License-Identifier: Apache-2.0
import { relative } from "node:path";
import type { Command } from "commander";
import { listEnvironments } from "../../talos/environment/index.ts";
import type { CommandContext } from "../context.ts";
import { projectRoot } from "../project-root.ts";
import { prepareStack } from "../terraform/prepare-stack.ts";

export function registerSynth(program: Command, context: CommandContext): void {
  program
    .command("synth")
    .description("write the Terraform JSON of an environment, or of all, to cdktf.out/stacks/<environment>")
    .argument("[environment]", "name of a file in environments/, without .yaml")
    .action(async (name: string | undefined) => {
      const root = projectRoot(context.cwd, context.env);
      for (const environment of name === undefined ? listEnvironments(root) : [name]) {
        const directory = await prepareStack(root, environment);
        context.stdout.write(`${relative(context.cwd, directory)}\n`);
      }
    });
}
