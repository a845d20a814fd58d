// SPDX-License-Identifier: Apache-2.0
import type { Command } from "commander";
import type { CommandContext } from "../context.ts";
import { addApproval, collect, collectNamed, environmentCommand, runs } from "./flags.ts";
import { addConfigCommand } from "./gen.ts";
import { addTalosconfigCommands } from "./talosconfig.ts";

/** `config patch | validate | diff | redact | migrate` and talosctl's `config`, `machineconfig patch | gen` and `validate`. */
export function registerConfig(program: Command, context: CommandContext): void {
  const actions = () => import("../actions/config.ts");
  const addPatch = (parent: Command) =>
    parent
      .command("patch")
      .description("apply patches to a machine config and print the result")
      .argument("<machineconfig file>", "the config")
      .option("-p, --patch <patch>", "@file, or the patch itself; may be repeated", collect, [])
      .option("-o, --output <file>", "write the result there instead of to stdout")
      .option("--json", "print the result inside JSON", false)
      .action(runs(context, async () => (await actions()).configPatch));
  const addValidate = (parent: Command, options: { readonly hidden?: boolean } = {}) =>
    parent
      .command("validate", options)
      .description("check a machine config as Talos does; all errors at once")
      .requiredOption("-c, --config <file>", "the config")
      .requiredOption("-m, --mode <mode>", "metal, cloud or container")
      .option("--strict", "take warnings for errors", false)
      .option("--talos-version <version>", "also refuse what machines of this version do not know yet")
      .option("--json", "print the result as JSON", false)
      .action(runs(context, async () => (await actions()).configValidate));

  const config = program
    .command("config")
    .description("machine configs: patch, check, compare; talosconfig: contexts, as talosctl config");
  addPatch(config);
  addValidate(config);
  config
    .command("diff")
    .description("compare two machine configs by meaning, secrets hidden; tells what needs a reboot")
    .argument("<before>", "a config")
    .argument("<after>", "another one")
    .option("--detailed-exitcode", "exit with 2 when they differ", false)
    .option("--json", "print the changes as JSON", false)
    .action(runs(context, async () => (await actions()).configDiff));
  config
    .command("redact")
    .description("print a machine config with every secret replaced")
    .argument("<file>", "the config")
    .option("--json", "print the result inside JSON", false)
    .action(runs(context, async () => (await actions()).configRedact));
  addApproval(
    environmentCommand(config, "migrate")
      .description("move an environment and its config patches to a newer config contract")
      .requiredOption("--to <contract>", "such as v1.14")
      .option(
        "--enable <default>",
        "switch on a new default: kernel-args-from-image, secure-ephemeral, filesystem-trim, workload-isolation, anonymous-health; may be repeated, or a list with commas",
        collectNamed,
        [],
      )
      .option("--dry-run", "only show what would change", false)
      .option("--json", "print the result as JSON", false),
  ).action(runs(context, async () => (await import("../actions/migrate-config.ts")).configMigrate));
  addTalosconfigCommands(config, context);
  const machineconfig = program
    .command("machineconfig", { hidden: true })
    .alias("mc")
    .description("talosctl's name for: config patch, gen config");
  addPatch(machineconfig);
  addConfigCommand(machineconfig, "gen", context);
  addValidate(program, { hidden: true });
}
