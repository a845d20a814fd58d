// SPDX-License-Identifier: Apache-2.0
import { type Command, Option } from "commander";
import type { TalosconfigFlags } from "../actions/talosconfig.ts";
import type { CommandContext } from "../context.ts";
import { addTalosconfigFlags, addTargetFlags } from "../machine/target-flags.ts";
import { collectList, runs } from "./flags.ts";

/** talosctl's `config` commands: contexts of the talosconfig. */
export function addTalosconfigCommands(config: Command, context: CommandContext): void {
  const actions = () => import("../actions/talosconfig.ts");
  const named = (name: string, description: string) =>
    addTalosconfigFlags(config.command(name).description(description));

  named("add", "add a context to the talosconfig")
    .argument("<context>", "its name")
    .option("--ca <file>", "CA certificate")
    .option("--crt <file>", "client certificate")
    .option("--key <file>", "key of the client certificate")
    .action(runs(context, async () => (await actions()).addNewContext));
  named("context", "choose the current context")
    .alias("use-context")
    .argument("<context>", "its name")
    .action(runs(context, async () => (await actions()).useContext));
  named("contexts", "list the contexts")
    .alias("get-contexts")
    .option("--json", "print them as JSON", false)
    .action(runs(context, async () => (await actions()).showContexts));
  for (const [name, field, argument] of [
    ["endpoint", "endpoints", "<endpoint...>"],
    ["node", "nodes", "[node...]"],
  ] as const)
    named(name, `set the ${field} of the current context`)
      .alias(field)
      .argument(argument, "addresses or names")
      .action(async (addresses: readonly string[], flags: TalosconfigFlags) =>
        (await actions()).setAddresses(field, addresses, flags, context),
      );
  named("info", "show the current context: whom it is for, and until when")
    .addOption(new Option("-o, --output <form>", "how to print it").choices(["json", "yaml", "text"]).default("text"))
    .option("--json", "the same as -o json", false)
    .action(runs(context, async () => (await actions()).showContext));
  named("merge", "add the contexts of another talosconfig; those whose name is in use are renamed")
    .argument("<from>", "the other talosconfig")
    .action(runs(context, async () => (await actions()).mergeContexts));
  addTargetFlags(config.command("new"))
    .description("ask a control plane for a client certificate and write a talosconfig with it")
    .argument("[path]", "where to write it", "talosconfig")
    .option("--roles <roles>", "roles", collectList)
    .option("--crt-ttl <duration>", "how long the certificate is valid", "8760h")
    .action(runs(context, async () => (await actions()).configNew));
  named("remove", "remove contexts; never the current one")
    .argument("<context>", "name, in which * stands for any text")
    .option("-y, --noconfirm", "do not ask for confirmation", false)
    .option("--dry-run", "change nothing", false)
    .action(runs(context, async () => (await actions()).removeMatching));
}
