// SPDX-License-Identifier: Apache-2.0
import type { Command } from "commander";
import type { SupportFlags } from "../actions/support.ts";
import type { CommandContext } from "../context.ts";

export function registerSupport(program: Command, context: CommandContext): void {
  program
    .command("support")
    .description("gather versions, checks, states, configs and logs into one archive, every secret replaced")
    .argument("<environment>", "name of a file in environments/, without .yaml")
    .option("-O, --output <file>", "where to write it (default: support-<environment>.zip)")
    .option("-f, --force", "replace a file that is there", false)
    .action(async (name: string, flags: SupportFlags) => {
      const { support } = await import("../actions/support.ts");
      await support(name, flags, context);
    });
}
