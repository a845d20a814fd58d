// SPDX-License-Identifier: Apache-2.0
import type { Command } from "commander";
import type { RestoreFlags } from "../actions/restore.ts";
import type { CommandContext } from "../context.ts";
import { addApproval } from "./flags.ts";

export function registerRestore(program: Command, context: CommandContext): void {
  addApproval(program.command("restore"))
    .description("rebuild a cluster whose control planes lost their data from a backup of etcd")
    .argument("<environment>", "name of a file in environments/, without .yaml")
    .requiredOption("--from <backup>", "latest, the name of a backup, a file, or s3://bucket/key")
    .option("--discard-data", "throw away the etcd data that control planes still have", false)
    .option("--json", "report progress as NDJSON on stdout", false)
    .action(async (name: string, flags: RestoreFlags) => {
      const { restore } = await import("../actions/restore.ts");
      await restore(name, flags, context);
    });
}
