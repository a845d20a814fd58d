// SPDX-License-Identifier: Apache-2.0
import type { Command } from "commander";
import type { CommandContext } from "../context.ts";

export function registerDestroy(program: Command, context: CommandContext): void {
  program
    .command("destroy")
    .description("take an environment down: reset every machine, then remove it")
    .argument("<environment>", "name of a file in environments/, without .yaml")
    .option("--auto-approve", "do not ask", false)
    .action(async (name: string, { autoApprove }: { autoApprove: boolean }) => {
      const { destroy } = await import("../actions/destroy.ts");
      await destroy(name, autoApprove, context);
    });
}
