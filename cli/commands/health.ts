// SPDX-License-Identifier: Apache-2.0
import { type Command, Option } from "commander";
import type { CommandContext } from "../context.ts";
import { duration } from "./duration.ts";
import { addWithoutKubernetes } from "./flags.ts";

export function registerHealth(program: Command, context: CommandContext): void {
  addWithoutKubernetes(program.command("health"))
    .description("make the checks of `talosctl health` and wait until all are met; exit code 1 when one is not")
    .argument("<environment>", "name of a file in environments/, without .yaml")
    .addOption(
      new Option("--wait-timeout <duration>", "how long to wait, such as 30s or 20m; 0 looks once")
        .argParser(duration)
        .default(20 * 60_000, "20m"),
    )
    .option("--json", "report each change of a condition as NDJSON", false)
    .action(async (name: string, options: { waitTimeout: number; json: boolean; kubernetes: boolean }) => {
      const { health } = await import("../actions/health.ts");
      await health(name, options, context);
    });
}
