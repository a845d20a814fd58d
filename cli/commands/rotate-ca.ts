// SPDX-License-Identifier: Apache-2.0
import type { Command } from "commander";
import type { RotateCaFlags } from "../actions/rotate-ca.ts";
import type { CommandContext } from "../context.ts";
import { addApproval, addSwitch, collectList } from "./flags.ts";

/** As `talosctl rotate-ca`, whose switches and defaults these are: without --dry-run=false it only tells. */
export function registerRotateCa(program: Command, context: CommandContext): void {
  const command = addApproval(program.command("rotate-ca"))
    .description("exchange the CAs of the Talos and Kubernetes APIs for new ones, without cutting anyone off")
    .argument("<environment>", "name of a file in environments/, without .yaml");
  addSwitch(command, "dry-run", "show the steps and change nothing", true);
  addSwitch(command, "talos", "exchange the CA of the Talos API", true);
  addSwitch(command, "kubernetes", "exchange the CA of the Kubernetes API", true);
  command
    .option("--age-recipient <recipient>", "for whom a secrets file is encrypted with age again", collectList, [])
    .option("--json", "report progress as NDJSON on stdout", false)
    .action(async (name: string, flags: RotateCaFlags) => {
      const { rotateCa } = await import("../actions/rotate-ca.ts");
      await rotateCa(name, flags, context);
    });
}
