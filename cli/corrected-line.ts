// SPDX-License-Identifier: Apache-2.0
import { type Command, Help } from "commander";
import { nearestWord } from "../talos/nearest-word.ts";

/**
 * The command line that was most likely meant, up to its last corrected word and an environment after it: what follows may
 * be private. Undefined where no word is near enough to one that there is.
 */
export function correctedLine(
  program: Command,
  words: readonly string[],
  environments: readonly string[],
): string | undefined {
  const corrected = correctedWords(program, words, environments);
  const wrong = corrected.findLastIndex((word, index) => word !== words[index]);
  if (wrong === -1) return undefined;
  const last = environments.includes(corrected[wrong + 1] ?? "") ? wrong + 1 : wrong;
  const rest = last < words.length - 1 ? [" …"] : [];
  return [[program.name(), ...corrected.slice(0, last + 1)].join(" "), ...rest].join("");
}

/** Each word, or the one nearest to it, as far as the words lead to a command. */
function correctedWords(program: Command, words: readonly string[], environments: readonly string[]): string[] {
  const corrected: string[] = [];
  let command = program;
  let given = 0;
  let isValue = false;
  for (const word of words) {
    if (isValue) {
      isValue = false;
      corrected.push(word);
    } else if (word.startsWith("-")) {
      const meant = correctedOption(command, word);
      corrected.push(meant);
      isValue = takesNext(command, meant);
    } else if (given === 0 && command.commands.length > 0 && !isFirstArgument(command, word, environments)) {
      const meant = correctedCommand(command, word);
      const child = childNamed(command, meant);
      if (child === undefined) return corrected;
      corrected.push(meant);
      command = child;
    } else {
      const isEnvironment = command.registeredArguments[given]?.name() === "environment";
      corrected.push(isEnvironment ? (nearestWord(word, environments) ?? word) : word);
      given += 1;
    }
  }
  return corrected;
}

/** `upgrade` takes an environment, and has commands below it. */
function isFirstArgument(command: Command, word: string, environments: readonly string[]): boolean {
  return command.registeredArguments[0]?.name() === "environment" && environments.includes(word);
}

const childNamed = (command: Command, word: string) =>
  command.commands.find((child) => child.name() === word || child.aliases().includes(word));

function correctedCommand(command: Command, word: string): string {
  if (childNamed(command, word) !== undefined) return word;
  const names = new Help().visibleCommands(command).flatMap((child) => [child.name(), ...child.aliases()]);
  return nearestWord(word, names) ?? word;
}

function correctedOption(command: Command, word: string): string {
  const [, name, value = ""] = /^(--[^=]+)(=.*)?$/s.exec(word) ?? [];
  const names = new Help().visibleOptions(command).flatMap(({ long }) => long ?? []);
  if (name === undefined || command.options.some(({ long }) => long === name)) return word;
  return `${nearestWord(name, names) ?? name}${value}`;
}

/** Whether the next word is the value of this option. */
function takesNext(command: Command, word: string): boolean {
  const option = command.options.find(({ long, short }) => long === word || short === word);
  return option?.required === true || option?.optional === true;
}
