// SPDX-License-Identifier: Apache-2.0
import type { Command } from "commander";
import { expect, test } from "vitest";
import { createProgram } from "../../cli/program.ts";
import { registrations } from "../../cli/registrations.ts";
import { testContext } from "../support/command-context.ts";

/** Commands that report nothing for programs, each with its reason. */
const without = new Map([
  ["dashboard", "a screen; `status --json` has what it shows"],
  ["config add", "changes the talosconfig in silence, as talosctl does; so do the next five"],
  ["config context", ""],
  ["config endpoint", ""],
  ["config node", ""],
  ["config merge", ""],
  ["config new", ""],
  ["config remove", "asks or names what it removes, as talosctl does"],
  ["completion", "prints a script"],
  ["__complete", "answers shells"],
  ["deploy", "its progress"],
  ["plan", "its plan"],
  ["destroy", "its progress"],
]);

function leaves(command: Command, path: readonly string[] = []): readonly (readonly [string, Command])[] {
  return command.commands.flatMap((child) => {
    const own = [...path, child.name()];
    return child.commands.length > 0 ? leaves(child, own) : [[own.join(" "), child] as const];
  });
}

test("every command that reports something has --json", () => {
  const all = leaves(createProgram(testContext(), registrations));
  const lacking = all.filter(([, { options }]) => !options.some(({ long }) => long === "--json"));
  const missing = lacking.map(([path]) => path).filter((path) => !without.has(path));
  expect(missing).toEqual([]);
});
