// SPDX-License-Identifier: Apache-2.0
import type { Command } from "commander";
import type { CommandContext } from "../context.ts";
import { addWithoutKubernetes } from "./flags.ts";

export function registerPlan(program: Command, context: CommandContext): void {
  addWithoutKubernetes(program.command("plan"))
    .description("show what a deploy would change; exit code 2 when there is something")
    .argument("<environment>", "name of a file in environments/, without .yaml")
    .action(async (name: string, options: { kubernetes: boolean }) => {
      const { plan } = await import("../actions/plan.ts");
      await plan(name, options, context);
    });
}
