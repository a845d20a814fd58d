// SPDX-License-Identifier: Apache-2.0
import type { Command } from "commander";
import type { ApprovalFlags } from "../ask.ts";
import type { CommandContext } from "../context.ts";
import { addApproval, addWithoutKubernetes } from "./flags.ts";

/** The engine without Terraform. */
export function registerUp(program: Command, context: CommandContext): void {
  addApproval(addWithoutKubernetes(program.command("up")))
    .description("bring an environment to what its file says, without Terraform")
    .argument("<environment>", "name of a file in environments/, without .yaml")
    .option("--json", "report progress as NDJSON on stdout", false)
    .action(async (name: string, options: ApprovalFlags & { json: boolean; kubernetes: boolean }) => {
      const { up } = await import("../actions/up.ts");
      await up(name, options, context);
    });
  addApproval(program.command("down"))
    .description("take an environment down that was brought up without Terraform")
    .argument("<environment>", "name of a file in environments/, without .yaml")
    .option("--json", "report progress as NDJSON on stdout", false)
    .action(async (name: string, options: ApprovalFlags & { json: boolean }) => {
      const { down } = await import("../actions/up.ts");
      await down(name, options, context);
    });
}
