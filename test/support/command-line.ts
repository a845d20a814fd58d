// SPDX-License-Identifier: Apache-2.0
import type { Command } from "commander";

/** Words as a shell would give them, as far as documents use quoting; what follows a pipe, redirection or comment is not ours. */
export function shellWords(line: string): readonly string[] {
  const words = line.match(/'[^']*'|"[^"]*"|[^\s'"]+/g) ?? [];
  const end = words.findIndex((word) => /^(\||>|>>|<|&&|;|#)/.test(word));
  return words.slice(0, end === -1 ? undefined : end).map((word) => word.replace(/^(['"])(.*)\1$/s, "$2"));
}

/** The command that a line of ours begins with. */
export function commandOf(program: Command, line: string): Command {
  let command = program;
  for (const word of shellWords(line)) {
    const child = command.commands.find((each) => each.name() === word || each.aliases().includes(word));
    if (child === undefined) return command;
    command = child;
  }
  return command;
}

/** What is wrong with a command line of ours, without running it: undefined when the command would begin its work. */
export function usageFault(program: Command, line: string): string | undefined {
  let command = program;
  const given: string[] = [];
  const words = [...shellWords(line)];
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word.startsWith("-") && word !== "-") {
      const [name = "", value] = word.split("=", 2);
      const option = command.options.find(({ long, short }) => long === name || short === name);
      if (option === undefined) return name === "--help" || name === "--version" ? undefined : `no flag ${name}`;
      if (!(option.required || option.optional) || value !== undefined) continue;
      const next = words.shift();
      if (next === undefined) return `${name} wants a value`;
      if (option.argChoices !== undefined && !option.argChoices.includes(next)) return `${name} does not take ${next}`;
    } else {
      const child = command.commands.find((each) => each.name() === word || each.aliases().includes(word));
      if (given.length === 0 && child !== undefined) command = child;
      else given.push(word);
    }
  }
  if (command.commands.length > 0 && command.registeredArguments.length === 0)
    return given[0] === undefined ? undefined : `no command ${given[0]}`;
  return argumentFault(command, given) ?? missingOption(command, line);
}

function argumentFault(command: Command, given: readonly string[]): string | undefined {
  const { registeredArguments } = command;
  const needed = registeredArguments.filter(({ required }) => required).length;
  if (given.length < needed) return `${command.name()} wants ${registeredArguments[given.length]?.name()}`;
  const open = registeredArguments.some(({ variadic }) => variadic);
  return given.length > registeredArguments.length && !open
    ? `${command.name()} does not take ${given.at(-1)}`
    : undefined;
}

function missingOption(command: Command, line: string): string | undefined {
  const words = shellWords(line).map((word) => word.split("=", 1)[0]);
  const missing = command.options.find(
    ({ mandatory, long, short }) => mandatory && !words.some((word) => word === long || word === short),
  );
  return missing === undefined ? undefined : `${command.name()} wants ${missing.long}`;
}
