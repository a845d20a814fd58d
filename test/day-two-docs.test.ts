// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { registerAddon } from "../cli/commands/addon.ts";
import { registerBackup } from "../cli/commands/backup.ts";
import { registerRestore } from "../cli/commands/restore.ts";
import { createProgram, runProgram } from "../cli/program.ts";
import { parseEnvironment } from "../talos/environment/index.ts";
import { testContext } from "./support/command-context.ts";

async function helpOf(name: readonly string[]): Promise<string> {
  const context = testContext();
  const program = createProgram(context, [registerAddon, registerBackup, registerRestore]);
  await runProgram(program, [...name, "--help"], context);
  return context.written.stdout;
}

const pages = ["docs/backups.md", "docs/addons.md"];

describe.each(pages)("%s", (page) => {
  const text = readFileSync(page, "utf8");
  const examples = [...text.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, yaml]) => yaml ?? "");

  test("has examples, and each is a valid environment", () => {
    expect(examples.length).toBeGreaterThan(1);
    for (const example of examples) {
      const file = `infrastructure: { kind: simulated }\ncontrolPlane: { count: 1 }\n${example}`;
      const read = (path: string) => (path === "environments/local.yaml" ? file : undefined);
      expect(parseEnvironment("local", read).name).toBe("local");
    }
  });

  test("names only commands that there are, with flags that they have", async () => {
    const commands = [...text.matchAll(/^ {4}talosmith (.+)$/gm)].map(([, line]) => (line ?? "").split(" "));
    expect(commands.length).toBeGreaterThan(2);
    for (const words of commands) {
      const name = words.slice(0, words[0] === "restore" ? 1 : 2);
      const help = await helpOf(name);
      expect(help).toContain(`Usage: talosmith ${name.join(" ")}`);
      for (const flag of words.filter((word) => word.startsWith("--"))) expect(help).toContain(flag);
    }
  });
});
