// SPDX-License-Identifier: Apache-2.0
import type { Command } from "commander";
import { describe, expect, test } from "vitest";
import { createProgram, runProgram } from "../../cli/program.ts";
import { registrations } from "../../cli/registrations.ts";
import { testContext } from "../support/command-context.ts";
import { usageFault } from "../support/command-line.ts";

/** Every command with its path, groups among them. */
function commandsBelow(command: Command, path: readonly string[] = []): readonly (readonly string[])[] {
  return command.commands.flatMap((child) => {
    const own = [...path, child.name()];
    return child.name() === "__complete" ? [] : [own, ...commandsBelow(child, own)];
  });
}

const program = createProgram(testContext(), registrations);

describe("the help of every command", () => {
  test.each(commandsBelow(program).map((path) => path.join(" ")))(
    "talosmith %s has two examples that are right",
    async (path) => {
      const context = testContext();
      await runProgram(createProgram(context, registrations), [...path.split(" "), "--help"], context);
      const [, section = ""] = context.written.stdout.split("\nExamples:\n");
      const examples = section.split("\n").flatMap((line) => /^ {2}talosmith (.+)$/.exec(line)?.[1] ?? []);
      expect(examples.length).toBeGreaterThanOrEqual(2);
      for (const example of examples) {
        expect(example.startsWith(path), example).toBe(true);
        expect(usageFault(program, example), example).toBeUndefined();
      }
    },
  );
});
