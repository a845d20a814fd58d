// SPDX-License-Identifier: Apache-2.0
import type { Command } from "commander";
import type { CommandContext } from "../context.ts";

export function registerSynth(program: Command, context: CommandContext): void {
  program
    .command("synth")
    .description("write the Terraform JSON of an environment, or of all, to cdktf.out/stacks/<environment>")
    .argument("[environment]", "name of a file in environments/, without .yaml")
    .action(async (name: string | undefined) => {
      const { synth } = await import("../actions/synth.ts");
      await synth(name, context);
    });
}
