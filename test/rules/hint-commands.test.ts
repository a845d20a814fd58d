// SPDX-License-Identifier: Apache-2.0
import { readdirSync, readFileSync } from "node:fs";
import type { Command } from "commander";
import { expect, test } from "vitest";
import { createProgram } from "../../cli/program.ts";
import { registrations } from "../../cli/registrations.ts";
import { testContext } from "../support/command-context.ts";

const program = createProgram(testContext(), registrations);

/** Every command of ours in a text of the code, up to the end of its sentence; in backticks it is a name, and no line to type. */
function commandsIn(file: string): readonly string[] {
  const text = readFileSync(file, "utf8").replaceAll(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, "VALUE");
  const lines = text.split("\n").filter((line) => !/^\s*(?:\/\/|\*|\/\*)/.test(line));
  return lines.flatMap((line) =>
    [...line.matchAll(/(?<![\w./@`-])talosmith ([a-z][a-z0-9-]*(?: [^`"'.,;:)\\]+)?)/g)].map(([, found = ""]) => found),
  );
}

function childOf(command: Command, word = ""): Command | undefined {
  return command.commands.find((child) => child.name() === word || child.aliases().includes(word));
}

/** What is wrong with a command; undefined for one that can be typed, and for a sentence about talosmith. */
function wrongIn(found: string): string | undefined {
  const words = found.trim().split(/\s+/);
  let command = childOf(program, words[0]);
  if (command === undefined) return undefined;
  let rest = words.slice(1);
  for (let child = childOf(command, rest[0]); child !== undefined; child = childOf(command, rest[0])) {
    command = child;
    rest = rest.slice(1);
  }
  // Which of its subcommands it is, is decided when it runs.
  if (rest[0] === "VALUE" && command.commands.length > 0) {
    command = command.commands[0] ?? command;
    rest = rest.slice(1);
  }
  const known = ["--help", ...command.options.flatMap(({ long, short }) => [long, short])];
  const flag = rest.find((word) => /^--?[a-z]/.test(word) && !known.includes(word.replace(/=.*/, "")));
  if (flag !== undefined) return `${found}: no flag ${flag}`;
  const needed = command.registeredArguments.filter(({ required }) => required).length;
  const given = rest.filter((word) => !word.startsWith("-")).length;
  return given < needed ? `${found}: ${needed} arguments are needed` : undefined;
}

const folders = ["cli", "workspace", "engine", "model", "watch", "provider/types", "review", "simulator/control"];

test.each(folders)("every command that a message of %s names can be typed as it stands", (folder) => {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
  const wrong = files.flatMap((file) =>
    commandsIn(`${folder}/${file}`).flatMap((found) => {
      const why = wrongIn(found);
      return why === undefined ? [] : [`${folder}/${file}: ${why}`];
    }),
  );
  expect(wrong).toEqual([]);
});
