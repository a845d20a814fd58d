// SPDX-License-Identifier: Apache-2.0
import type { Command } from "commander";
import type { ApprovalFlags } from "../ask.ts";
import type { CommandContext } from "../context.ts";
import { addApproval } from "./flags.ts";

export function registerDestroy(program: Command, context: CommandContext): void {
  addApproval(program.command("destroy"))
    .description(
      "take an environment down: reset every machine, then remove it; asks, but not about simulated machines",
    )
    .argument("<environment>", "name of a file in environments/, without .yaml")
    .action(async (name: string, flags: ApprovalFlags) => {
      const { destroy } = await import("../actions/destroy.ts");
      await destroy(name, flags, context);
    });
}
