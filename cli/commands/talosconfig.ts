// SPDX-License-Identifier: Apache-2.0
import { Command, Option } from "commander";
import type { ConfigNewFlags } from "../actions/config-new.ts";
import type { AddContextFlags, RemoveContextFlags, TalosconfigFlags } from "../actions/talosconfig.ts";
import type { ContextInfoFlags } from "../actions/talosconfig-show.ts";
import type { CommandContext } from "../context.ts";
import { addTargetFlags } from "../machine/target-flags.ts";
import { addTo, collectList, type Given } from "./flags.ts";

/** talosctl's `config` commands: contexts of the talosconfig. */
export function addTalosconfigCommands(config: Command, context: CommandContext): void {
  const actions = () => import("../actions/talosconfig.ts");
  const show = () => import("../actions/talosconfig-show.ts");

  addTo(
    config,
    named("add", "add a context to the talosconfig")
      .argument("<context>", "its name")
      .option("--ca <file>", "CA certificate")
      .option("--crt <file>", "client certificate")
      .option("--key <file>", "key of the client certificate")
      .action(async (name: string, flags: AddContextFlags) => (await actions()).addNewContext(name, flags, context)),
  );
  addTo(
    config,
    named("context", "choose the current context")
      .alias("use-context")
      .argument("<context>", "its name")
      .action(async (name: string, flags: TalosconfigFlags) => (await actions()).useContext(name, flags, context)),
  );
  addTo(
    config,
    named("contexts", "list the contexts")
      .alias("get-contexts")
      .option("--json", "print them as JSON")
      .action(async (flags: Given<TalosconfigFlags & { readonly json: boolean }, "json">) =>
        (await show()).showContexts({ json: false, ...flags }, context),
      ),
  );
  for (const [name, field, argument] of [
    ["endpoint", "endpoints", "<endpoint...>"],
    ["node", "nodes", "[node...]"],
  ] as const) {
    addTo(
      config,
      named(name, `set the ${field} of the current context`)
        .alias(field)
        .argument(argument, "addresses or names")
        .action(async (addresses: readonly string[], flags: TalosconfigFlags) =>
          (await actions()).setAddresses(field, addresses, flags, context),
        ),
    );
  }
  addTo(
    config,
    named("info", "show the current context: whom it is for, and until when")
      .addOption(new Option("-o, --output <form>", "how to print it").choices(["json", "yaml", "text"]).default("text"))
      .option("--json", "the same as -o json")
      .action(async ({ json, ...flags }: ContextInfoFlags & { readonly json?: boolean }) =>
        (await show()).showContext(json ? { ...flags, output: "json" } : flags, context),
      ),
  );
  addTo(
    config,
    named("merge", "add the contexts of another talosconfig; those whose name is in use are renamed")
      .argument("<from>", "the other talosconfig")
      .action(async (from: string, flags: TalosconfigFlags) => (await actions()).mergeContexts(from, flags, context)),
  );
  addTo(config, newCommand(context));
  addTo(
    config,
    named("remove", "remove contexts; never the current one")
      .argument("<context>", "name, in which * stands for any text")
      .option("-y, --noconfirm", "do not ask for confirmation", false)
      .option("--dry-run", "change nothing", false)
      .action(async (pattern: string, flags: RemoveContextFlags) =>
        (await actions()).removeMatching(pattern, flags, context),
      ),
  );
}

function named(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .option("--talosconfig <path>", "talosconfig file (default: as talosctl finds it)")
    .option("--context <name>", "context of the talosconfig to use instead of the current one");
}

function newCommand(context: CommandContext): Command {
  return addTargetFlags(new Command("new"))
    .description("ask a control plane for a client certificate and write a talosconfig with it")
    .argument("[path]", "where to write it", "talosconfig")
    .option("--roles <roles>", "roles", collectList)
    .option("--crt-ttl <duration>", "how long the certificate is valid", "8760h")
    .action(async (path: string, flags: Given<ConfigNewFlags, "roles">) => {
      const { configNew } = await import("../actions/config-new.ts");
      await configNew(path, { roles: ["os:admin"], ...flags }, context);
    });
}
