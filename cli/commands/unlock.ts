// SPDX-License-Identifier: Apache-2.0
import type { Command } from "commander";
import type { ApprovalFlags } from "../ask.ts";
import type { CommandContext } from "../context.ts";
import { addApproval } from "./flags.ts";

export function registerUnlock(program: Command, context: CommandContext): void {
  addApproval(program.command("unlock"))
    .description("take a cluster's lock away from a run that has died elsewhere")
    .argument("<environment>", "name of a file in environments/, without .yaml")
    .action(async (name: string, flags: ApprovalFlags) => {
      const { unlock } = await import("../actions/unlock.ts");
      await unlock(name, flags, context);
    });
}
