// SPDX-License-Identifier: Apache-2.0
// Terraform takes an empty state as "nothing exists yet": every command of ours refuses it, and says how to get it back.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { everything } from "../support/everything.ts";
import { makeProject, removeProject, talosmith } from "./project.ts";

const good = '{"version":4,"serial":3,"resources":[]}';
const broken = [
  ["empty", "", "is empty"],
  ["truncated", good.slice(0, 20), "is not a whole Terraform state"],
] as const;
const commands = [
  "plan local",
  "deploy local --yes",
  "destroy local --yes",
  "status local",
  "kubeconfig local",
  "talosconfig local",
  "health local",
  "up local",
  "upgrade talos local --to v1.13.9",
  "rotate-ca local",
  "down local --yes",
  "unlock local",
  "topology local --live",
];
const environment = "infrastructure: { kind: simulated }\ncontrolPlane: { count: 1 }\nbackup: { directory: backups }\n";
const projects: string[] = [];
afterAll(() => {
  for (const root of projects) removeProject(root);
});

// Each reads the state through the same door; two of each kind of broken file show that it is kept everywhere.
const always = new Set(["plan local", "destroy local --yes", "status local", "up local"]);

describe.each(broken)("an %s state", { timeout: 180_000 }, (_, text, words) => {
  test.each(commands.filter((line) => everything || always.has(line)))("is refused by %s", async (line) => {
    const root = makeProject({
      "environments/local.yaml": environment,
      "state/local.tfstate": text,
      "state/backups/local.3.tfstate": good,
    });
    projects.push(root);
    const { code, stderr } = await talosmith(line.split(" "), { cwd: root });
    expect(stderr).toContain(`${join(root, "state/local.tfstate")} ${words}`);
    expect(stderr).toContain("cp state/backups/local.3.tfstate state/local.tfstate");
    expect(code).toBe(1);
    expect(readFileSync(join(root, "state/local.tfstate"), "utf8")).toBe(text);
    expect(existsSync(join(root, "generated"))).toBe(false);
  });
});
