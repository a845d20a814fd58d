// SPDX-License-Identifier: Apache-2.0
import type { Command } from "commander";
import type { CommandContext } from "../context.ts";

export function registerPlan(program: Command, context: CommandContext): void {
  program
    .command("plan")
    .description("show what a deploy would change; exit code 2 when there is something")
    .argument("<environment>", "name of a file in environments/, without .yaml")
    .action(async (name: string) => {
      const { plan } = await import("../actions/plan.ts");
      await plan(name, context);
    });
}
