// SPDX-License-Identifier: Apache-2.0
import { type Command, Option } from "commander";
import type { TopologyFormat } from "../../model/topology/index.ts";
import type { CommandContext } from "../context.ts";

export function registerTopology(program: Command, context: CommandContext): void {
  program
    .command("topology")
    .description("draw an environment: endpoint, zones or hosts, control planes, workers")
    .argument("<environment>", "name of a file in environments/, without .yaml")
    .addOption(
      new Option("--format <format>", "form of the picture").choices(["svg", "mermaid", "json"]).default("svg"),
    )
    .option("--live", "ask the machines and show their state; without it the file alone is drawn", false)
    .action(async (name: string, options: { format: TopologyFormat; live: boolean }) => {
      const { topology } = await import("../actions/topology.ts");
      await topology(name, options, context);
    });
}
