// SPDX-License-Identifier: Apache-2.0
import type { Command } from "commander";
import type { ApprovalFlags } from "../ask.ts";
import type { CommandContext } from "../context.ts";
import { addApproval } from "./flags.ts";

export function registerDeploy(program: Command, context: CommandContext): void {
  addApproval(program.command("deploy"))
    .description("bring an environment to what its file says, through terraform or tofu where one is on the PATH")
    .argument("<environment>", "name of a file in environments/, without .yaml")
    .action(async (name: string, flags: ApprovalFlags) => {
      const { deploy } = await import("../actions/deploy.ts");
      await deploy(name, flags, context);
    });
}
