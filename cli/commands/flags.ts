// SPDX-License-Identifier: Apache-2.0
import { type Command, InvalidArgumentError, Option } from "commander";

/** Adds a switch that can be switched off too: `--name=false`, or `--no-name`. */
export function addSwitch(command: Command, name: string, description: string, standard: boolean): void {
  const option = new Option(`--${name}`, description);
  command.addOption(standard ? option.default(true) : option);
  command.addOption(new Option(`--no-${name}`).hideHelp());
}

/** Adds a command to a group, with the group's ways of writing and failing. */
export function addTo(parent: Command, command: Command, options: { readonly hidden?: boolean } = {}): void {
  parent.addCommand(command.copyInheritedSettings(parent), options);
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

/** Adds the switch for machines on which Talos runs and Kubernetes does not, such as a container without its images. */
export function addWithoutKubernetes(command: Command): Command {
  return command.option("--no-kubernetes", "only Talos and etcd: do not wait for Kubernetes, where it cannot run");
}

/** Adds the one switch by which a command that asks before it changes something does not; with Terraform's word for it. */
export function addApproval(command: Command): Command {
  return command
    .option("--yes", "do not ask", false)
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

/** For options that may be repeated, each value as it stands. */
export function collect(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, value];
}

/** Options as the command line gives them: those that have a meaning when they are left out may be absent. */
export type Given<Options, Optional extends keyof Options> = Omit<Options, Optional> & Partial<Pick<Options, Optional>>;
