// SPDX-License-Identifier: Apache-2.0
import { type Command, InvalidArgumentError, Option } from "commander";
import type { CommandContext } from "../context.ts";

/** Adds a command for one environment, its first argument. */
export function environmentCommand(parent: Command, name: string): Command {
  return parent.command(name).argument("<environment>", "name of a file in environments/, without .yaml");
}

/**
 * What a command does, loaded only when it runs: a function of the command's arguments, its options and the context, in
 * this order.
 */
export function runs(
  context: CommandContext,
  load: () => Promise<(...args: never[]) => void | Promise<void>>,
): (...given: unknown[]) => Promise<void> {
  return async (...given) => {
    const action = await load();
    // Last, commander gives the command itself.
    await action(...([...given.slice(0, -1), context] as never[]));
  };
}

/** Adds a switch that can be switched off too: `--name=false`, or `--no-name`. */
export function addSwitch(command: Command, name: string, description: string, standard: boolean): void {
  command.addOption(new Option(`--${name}`, description).default(standard));
  command.addOption(new Option(`--no-${name}`).hideHelp());
}

/** Lets a command and all below it take switches as talosctl does: `--name=true`, `--name=false`. */
export function takeGoSwitches(command: Command): void {
  const parseOptions = command.parseOptions;
  command.parseOptions = (args) =>
    parseOptions.call(
      command,
      args.flatMap((arg) => plainSwitch(command, arg)),
    );
  for (const child of command.commands) takeGoSwitches(child);
}

const yes = ["1", "t", "T", "TRUE", "true", "True"];
const no = ["0", "f", "F", "FALSE", "false", "False"];

/** Go's `--name=true` as `--name`, its `--name=false` as `--no-name` or, for what is off anyway, nothing. */
function plainSwitch(command: Command, arg: string): readonly string[] {
  const [, name, value = ""] = /^(--[a-z0-9-]+)=(.*)$/s.exec(arg) ?? [];
  const option = command.options.find((known) => known.long === name && known.isBoolean());
  if (name === undefined || option === undefined) return [arg];
  if (yes.includes(value)) return [name];
  if (!no.includes(value)) {
    return command.error(`error: option '${name}': found ${JSON.stringify(value)}, expected true or false`);
  }
  const negation = name.replace(/^--/, "--no-");
  return command.options.some((known) => known.long === negation) ? [negation] : [];
}

/** Adds the switch by which a command prints for programs, with a `v` in each object. */
export function addJson(command: Command, description = "print JSON"): Command {
  return command.option("--json", description, false);
}

/** Adds the switch for machines on which Talos runs and Kubernetes does not, such as a container without its images. */
export function addWithoutKubernetes(command: Command): Command {
  return command.option("--no-kubernetes", "only Talos and etcd: do not wait for Kubernetes, where it cannot run");
}

/** Adds the one switch by which a command that asks before it changes something does not; with Terraform's word for it. */
export function addApproval(command: Command): Command {
  return command
    .option("-y, --yes", "do not ask", false)
    .addOption(new Option("--auto-approve").hideHelp().implies({ yes: true }));
}

/** For options that may be repeated and hold several values with commas between them. */
export function collectList(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, ...value.split(",").filter((item) => item !== "")];
}

/**
 * The same for options that name what a command acts on. An empty item is refused, as of a variable that is not set: a
 * call for nobody reaches the machine that should pass it on, and a reset of no partition wipes them all.
 */
export function collectNamed(value: string, previous: readonly string[] = []): readonly string[] {
  const items = value.split(",").map((item) => item.trim());
  if (items.includes("")) throw new InvalidArgumentError("expected names with commas between them, found an empty one");
  return [...previous, ...items];
}

/** For options that are a number of things. */
export function countOption(value: string): number {
  if (/^\d+$/.test(value)) return Number(value);
  throw new InvalidArgumentError("expected a number, such as 3");
}

/** For options that may be repeated, each value as it stands. */
export function collect(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, value];
}
