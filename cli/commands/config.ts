// SPDX-License-Identifier: Apache-2.0
import { Command } from "commander";
import type { ConfigDiffOptions, ConfigPatchOptions } from "../actions/config-edit.ts";
import type { ConfigValidateOptions } from "../actions/config-validate.ts";
import type { CommandContext } from "../context.ts";
import { addTo, collect, type Given } from "./flags.ts";
import { configCommand } from "./gen.ts";
import { addTalosconfigCommands } from "./talosconfig.ts";

/** `config patch | validate | diff | redact` and talosctl's `config`, `machineconfig patch | gen` and `validate`. */
export function registerConfig(program: Command, context: CommandContext): void {
  const config = program
    .command("config")
    .description("machine configs: patch, check, compare; talosconfig: contexts, as talosctl config");
  addTo(config, patchCommand(context));
  addTo(config, validateCommand(context));
  addTo(config, diffCommand(context));
  addTo(config, redactCommand(context));
  addTalosconfigCommands(config, context);
  const machineconfig = program
    .command("machineconfig", { hidden: true })
    .alias("mc")
    .description("talosctl's name for: config patch, gen config");
  addTo(machineconfig, patchCommand(context));
  addTo(machineconfig, configCommand("gen", context));
  addTo(program, validateCommand(context), { hidden: true });
}

function patchCommand(context: CommandContext): Command {
  return new Command("patch")
    .description("apply patches to a machine config and print the result")
    .argument("<machineconfig file>", "the config")
    .option("-p, --patch <patch>", "@file, or the patch itself; may be repeated", collect)
    .option("-o, --output <file>", "write the result there instead of to stdout")
    .option("--json", "print the result inside JSON")
    .action(async (file: string, options: Given<ConfigPatchOptions, "patch" | "json">) => {
      const { configPatch } = await import("../actions/config-edit.ts");
      await configPatch(file, { patch: [], json: false, ...options }, context);
    });
}

function validateCommand(context: CommandContext): Command {
  return new Command("validate")
    .description("check a machine config as Talos does; all errors at once")
    .requiredOption("-c, --config <file>", "the config")
    .requiredOption("-m, --mode <mode>", "metal, cloud or container")
    .option("--strict", "take warnings for errors")
    .option("--talos-version <version>", "also refuse what machines of this version do not know yet")
    .option("--json", "print the result as JSON")
    .action(async (options: Given<ConfigValidateOptions, "strict" | "json">) => {
      const { configValidate } = await import("../actions/config-validate.ts");
      await configValidate({ strict: false, json: false, ...options }, context);
    });
}

function diffCommand(context: CommandContext): Command {
  return new Command("diff")
    .description("compare two machine configs by meaning, secrets hidden; tells what needs a reboot")
    .argument("<before>", "a config")
    .argument("<after>", "another one")
    .option("--detailed-exitcode", "exit with 2 when they differ")
    .option("--json", "print the changes as JSON")
    .action(async (before: string, after: string, options: Given<ConfigDiffOptions, "detailedExitcode" | "json">) => {
      const { configDiff } = await import("../actions/config-edit.ts");
      await configDiff(before, after, { detailedExitcode: false, json: false, ...options }, context);
    });
}

function redactCommand(context: CommandContext): Command {
  return new Command("redact")
    .description("print a machine config with every secret replaced")
    .argument("<file>", "the config")
    .option("--json", "print the result inside JSON")
    .action(async (file: string, options: { readonly json?: boolean }) => {
      const { configRedact } = await import("../actions/config-edit.ts");
      await configRedact(file, { json: false, ...options }, context);
    });
}
