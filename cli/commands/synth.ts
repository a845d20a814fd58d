// SPDX-License-Identifier: Apache-2.0
import { type Command, Option } from "commander";
import type { CommandContext } from "../context.ts";

interface SynthFlags {
  readonly hcl: boolean;
  readonly check: boolean;
}

export function registerSynth(program: Command, context: CommandContext): void {
  program
    .command("synth")
    .description("write the Terraform JSON of an environment, or of all, to cdktf.out/stacks/<environment>")
    .argument("[environment]", "name of a file in environments/, without .yaml")
    .option("--hcl", "write HCL to check in, to terraform/<environment>, instead", false)
    .addOption(
      new Option("--check", "write nothing; fail when the HCL in terraform/ is stale")
        .default(false)
        .implies({ hcl: true }),
    )
    .action(async (name: string | undefined, { hcl, check }: SynthFlags) => {
      if (hcl) {
        const { synthHcl } = await import("../actions/synth-hcl.ts");
        await synthHcl(name, { check }, context);
      } else {
        const { synth } = await import("../actions/synth.ts");
        await synth(name, context);
      }
    });
}
