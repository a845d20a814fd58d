// SPDX-License-Identifier: Apache-2.0
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parseEnvironment } from "../talos/environment/index.ts";

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

  test("names only commands that there are, with flags that they have", () => {
    const commands = [...text.matchAll(/^ {4}talosmith (.+)$/gm)].map(([, line]) => (line ?? "").split(" "));
    expect(commands.length).toBeGreaterThan(2);
    const helps = new Map<string, string>();
    for (const words of commands) {
      const name = words.slice(0, words[0] === "restore" ? 1 : 2);
      const key = name.join(" ");
      const known =
        helps.get(key) ?? execFileSync(process.execPath, ["bin/talosmith.js", ...name, "--help"]).toString();
      helps.set(key, known);
      expect(known).toContain(`Usage: talosmith ${key}`);
      for (const flag of words.filter((word) => word.startsWith("--"))) expect(known).toContain(flag);
    }
  }, 60_000);
});
