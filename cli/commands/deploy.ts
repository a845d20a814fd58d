// SPDX-License-Identifier: Apache-2.0
import type { Command } from "commander";
import type { CommandContext } from "../context.ts";

export function registerDeploy(program: Command, context: CommandContext): void {
  program
    .command("deploy")
    .description("bring an environment to what its file says, through terraform or tofu where one is on the PATH")
    .argument("<environment>", "name of a file in environments/, without .yaml")
    .option("--auto-approve", "do not ask before changing something", false)
    .action(async (name: string, { autoApprove }: { autoApprove: boolean }) => {
      const { deploy } = await import("../actions/deploy.ts");
      await deploy(name, autoApprove, context);
    });
}
