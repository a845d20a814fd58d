// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { registerAddon } from "../cli/commands/addon.ts";
import { registerAdopt } from "../cli/commands/adopt.ts";
import { registerBackup } from "../cli/commands/backup.ts";
import { registerClientFiles } from "../cli/commands/client-files.ts";
import { registerDeploy } from "../cli/commands/deploy.ts";
import { registerOperate } from "../cli/commands/operate.ts";
import { registerPlan } from "../cli/commands/plan.ts";
import { registerRestore } from "../cli/commands/restore.ts";
import { registerRotateCa } from "../cli/commands/rotate-ca.ts";
import { registerStatus } from "../cli/commands/status.ts";
import { registerUp } from "../cli/commands/up.ts";
import { registerUpgrade } from "../cli/commands/upgrade.ts";
import { createProgram, runProgram } from "../cli/program.ts";
import { parseEnvironment } from "../talos/environment/index.ts";
import { testContext } from "./support/command-context.ts";

const registrations = [
  registerAddon,
  registerAdopt,
  registerBackup,
  registerClientFiles,
  registerDeploy,
  registerOperate,
  registerPlan,
  registerRestore,
  registerRotateCa,
  registerStatus,
  registerUp,
  registerUpgrade,
];

async function helpOf(name: readonly string[]): Promise<string> {
  const context = testContext();
  const program = createProgram(context, registrations);
  await runProgram(program, [...name, "--help"], context);
  return context.written.stdout;
}

const groups = new Set(["addon", "backup", "upgrade"]);
const pages = ["docs/backups.md", "docs/addons.md", "docs/upgrade.md", "docs/scale.md", "docs/operate.md"];

describe.each(pages)("%s", (page) => {
  const text = readFileSync(page, "utf8");
  const examples = [...text.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, yaml]) => yaml ?? "");

  test("has examples, and each is a valid environment", () => {
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) {
      const plane = example.includes("controlPlane:") ? "" : "controlPlane: { count: 1 }\n";
      const file = `infrastructure: { kind: simulated }\n${plane}${example}`;
      const read = (path: string) => (path === "environments/local.yaml" ? file : undefined);
      expect(parseEnvironment("local", read).name).toBe("local");
    }
  });

  test("names only commands that there are, with flags that they have", async () => {
    const commands = [...text.matchAll(/^ {4}(?:npx )?talosmith (.+)$/gm)].map(([, line]) => (line ?? "").split(" "));
    expect(commands.length).toBeGreaterThan(2);
    for (const words of commands) {
      const name = words.slice(0, groups.has(words[0] ?? "") ? 2 : 1);
      const help = await helpOf(name);
      expect(help).toContain(`Usage: talosmith ${name.join(" ")}`);
      for (const flag of words.filter((word) => word.startsWith("--"))) expect(help).toContain(flag);
    }
  });
});
