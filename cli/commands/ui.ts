// SPDX-License-Identifier: Apache-2.0
import { type Command, InvalidArgumentError, Option } from "commander";
import type { UiFlags } from "../actions/ui.ts";
import type { CommandContext } from "../context.ts";

export function registerUi(program: Command, context: CommandContext): void {
  program
    .command("ui")
    .description("show all environments in a page of your browser, until Ctrl-C")
    .addOption(new Option("--port <port>", "port to listen on; 0 takes a free one").argParser(port).default(0))
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option(
      "--allow-unencrypted-remote",
      "with --host: let other machines in over plain HTTP; anyone who can read the traffic can administer your clusters",
      false,
    )
    .option("--read-only", "let the page look, and change nothing", false)
    .action(async (flags: UiFlags) => {
      const { ui } = await import("../actions/ui.ts");
      await ui(flags, context);
    });
}

function port(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 0 || number > 65_535)
    throw new InvalidArgumentError("Expected 0 to 65535.");
  return number;
}
