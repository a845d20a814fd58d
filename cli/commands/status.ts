// SPDX-License-Identifier: Apache-2.0
import type { Command } from "commander";
import type { CommandContext } from "../context.ts";
import { addWithoutKubernetes } from "./flags.ts";

export function registerStatus(program: Command, context: CommandContext): void {
  addWithoutKubernetes(program.command("status"))
    .description("show what each machine of an environment is and does right now")
    .argument("<environment>", "name of a file in environments/, without .yaml")
    .option("--json", "print JSON", false)
    .action(async (name: string, options: { json: boolean; kubernetes: boolean }) => {
      const { status } = await import("../actions/status.ts");
      await status(name, options, context);
    });
}
