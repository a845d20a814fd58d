// SPDX-License-Identifier: Apache-2.0
import { type Command, InvalidArgumentError, Option } from "commander";
import type { OperateFlags } from "../actions/operate.ts";
import type { CommandContext } from "../context.ts";
import { runs } from "./flags.ts";

export function registerOperate(program: Command, context: CommandContext): void {
  program
    .command("operate")
    .description("watch environments until it is stopped: report what differs, repair it where allowed, take backups")
    .argument("[environments...]", "names of files in environments/, without .yaml; without names, all of them")
    .addOption(
      new Option("--listen <address:port>", "where /metrics, /healthz and /readyz are; port 0 takes a free one")
        .argParser(parseListen)
        .default({ host: "127.0.0.1", port: 9180 }, "127.0.0.1:9180"),
    )
    .option("--lease <name>", "in a cluster: of all that run with this Lease of their namespace, only one works")
    .option("--repair", "repair every environment, as if each had operate.repair: true", false)
    .option("--kubernetes", "in a cluster: operate TalosCluster objects of its API instead of files", false)
    .option("--all-namespaces", "with --kubernetes: of every namespace instead of the pod's own", false)
    .option(
      "--data <folder>",
      "with --kubernetes: where simulated machines and work in progress are kept (default: a temporary folder)",
    )
    .option("--json", "log as NDJSON on stdout", false)
    .action(runs(context, async () => (await import("../actions/operate.ts")).operate));
}

/** `127.0.0.1:9180`, `[::]:9180` or `:9180` for every address. */
function parseListen(text: string): OperateFlags["listen"] {
  const [, bracketed, plain, digits] = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits === undefined || port > 65_535)
    throw new InvalidArgumentError("Expected such as 127.0.0.1:9180 or :9180.");
  return { host: bracketed ?? plain ?? "", port };
}
