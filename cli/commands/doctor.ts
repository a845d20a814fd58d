// SPDX-License-Identifier: Apache-2.0
import type { Command } from "commander";
import type { CommandContext } from "../context.ts";

export function registerDoctor(program: Command, context: CommandContext): void {
  program
    .command("doctor")
    .description("check what a deploy needs: programs, environment files, states, secrets; changes nothing")
    .argument("[environment]", "name of a file in environments/, without .yaml; all of them when left out")
    .option("--json", "print JSON", false)
    .action(async (name: string | undefined, options: { json: boolean }) => {
      const { doctor } = await import("../actions/doctor.ts");
      await doctor(name, options, context);
    });
}
