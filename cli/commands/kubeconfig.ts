// SPDX-License-Identifier: Apache-2.0
import type { Command } from "commander";
import type { ClientFileFlags } from "../actions/write-client-file.ts";
import type { CommandContext } from "../context.ts";
import { collectList } from "./flags.ts";

/** `kubeconfig` and `talosconfig`: fresh credentials, as talosctl gives them out. */
export function registerClientFiles(program: Command, context: CommandContext): void {
  for (const file of ["kubeconfig", "talosconfig"] as const) {
    const command = program
      .command(file)
      .description(`write a fresh ${file} to generated/<environment>/${file}, or to another path`)
      .argument("<environment>", "name of a file in environments/, without .yaml")
      .argument("[path]", "where to write it; - prints it")
      .option("--force", "replace a file that is there", false)
      .action(async (name: string, path: string | undefined, flags: ClientFileFlags) => {
        const { writeClientFile } = await import("../actions/write-client-file.ts");
        await writeClientFile(file, name, path, flags, context);
      });
    if (file === "kubeconfig") continue;
    command
      .option("--roles <roles>", "roles of the certificate, such as os:reader (default: os:admin)", collectList)
      .option("--crt-ttl <duration>", "lifetime of the certificate, such as 24h (default: a year)");
  }
}
