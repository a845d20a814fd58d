// SPDX-License-Identifier: Apache-2.0
import { type Command, Option } from "commander";
import type { CommandContext } from "../context.ts";
import { duration } from "./duration.ts";

export function registerDashboard(program: Command, context: CommandContext): void {
  program
    .command("dashboard")
    .description("show a cluster live in the terminal: machines, conditions, etcd; without a terminal, print it once")
    .argument("<environment>", "name of a file in environments/, without .yaml")
    .addOption(
      new Option("--interval <duration>", "how often to look, such as 5s").argParser(duration).default(3000, "3s"),
    )
    .action(async (name: string, options: { interval: number }) => {
      const { dashboard } = await import("../actions/dashboard.ts");
      await dashboard(name, options, context);
    });
}
