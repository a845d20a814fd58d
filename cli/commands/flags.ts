// SPDX-License-Identifier: Apache-2.0
import { type Command, Option } from "commander";

/** Adds a switch that may be written `--name`, `--name=true` or `--name=false`, as talosctl's may. */
export function addSwitch(command: Command, name: string, description: string, standard: boolean): void {
  const option = new Option(`--${name}`, description);
  command.addOption(standard ? option.default(true) : option);
  command.addOption(new Option(`--no-${name}`).hideHelp());
  const parseOptions = command.parseOptions;
  command.parseOptions = (args) =>
    parseOptions.call(
      command,
      args.map((arg) => (arg === `--${name}=true` ? `--${name}` : arg === `--${name}=false` ? `--no-${name}` : arg)),
    );
}

/** Adds a command to a group, with the group's ways of writing and failing. */
export function addTo(parent: Command, command: Command, options: { readonly hidden?: boolean } = {}): void {
  parent.addCommand(command.copyInheritedSettings(parent), options);
}

/** For options that may be repeated and hold several values with commas between them. */
export function collectList(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, ...value.split(",").filter((item) => item !== "")];
}

/** For options that may be repeated, each value as it stands. */
export function collect(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, value];
}

/** Options as the command line gives them: those that have a meaning when they are left out may be absent. */
export type Given<Options, Optional extends keyof Options> = Omit<Options, Optional> & Partial<Pick<Options, Optional>>;
