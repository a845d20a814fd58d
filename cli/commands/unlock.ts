// SPDX-License-Identifier: Apache-2.0
import type { Command } from "commander";
import type { CommandContext } from "../context.ts";

export function registerUnlock(program: Command, context: CommandContext): void {
  program
    .command("unlock")
    .description("take a cluster's lock away from a run that has died elsewhere")
    .argument("<environment>", "name of a file in environments/, without .yaml")
    .option("--auto-approve", "do not ask", false)
    .action(async (name: string, options: { autoApprove: boolean }) => {
      const { unlock } = await import("../actions/unlock.ts");
      await unlock(name, options, context);
    });
}
