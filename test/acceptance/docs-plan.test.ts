// SPDX-License-Identifier: Apache-2.0
// What pages say of a reviewed plan, typed into a shell, with simulated machines in the place of a cloud's.
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { expect, test } from "vitest";
import { everything } from "../support/everything.ts";
import { codeBlocks } from "../support/markdown.ts";
import { findProgram, programFolder } from "../support/programs.ts";
import { runCommand } from "../support/run-command.ts";
import { cleanEnvironment } from "../support/terraform.ts";

const pages = [
  { page: "README.md", environment: "sandbox" },
  ...(everything ? [{ page: "docs/ci.md", environment: "staging" }] : []),
];
const terraform = findProgram("terraform") ?? findProgram("tofu");
if (terraform === undefined) console.warn("SKIPPED: plans as pages type them, because there is no terraform");

test.skipIf(terraform === undefined).each(pages)(
  "the lines of $page end with a review",
  { timeout: 300_000 },
  async ({ page, environment }) => {
    const block = codeBlocks(readFileSync(page, "utf8")).find(
      ({ language, content }) => language === "sh" && content.includes("terraform plan"),
    );
    const folder = mkdtempSync(join(tmpdir(), "talosmith-docs-plan-"));
    const programs = programFolder({ node: process.execPath, terraform });
    try {
      mkdirSync(join(folder, "environments"));
      writeFileSync(join(folder, "cdktf.json"), "{}");
      writeFileSync(
        join(folder, `environments/${environment}.yaml`),
        "infrastructure: { kind: simulated }\ncontrolPlane: { count: 1 }\n",
      );
      // npx finds the package of the checkout that a reader is in; this folder is in none.
      const npx = join(programs, "npx");
      writeFileSync(npx, `#!/bin/sh\nshift\nexec node '${resolve("bin/talosmith.js")}' "$@"\n`);
      chmodSync(npx, 0o755);
      const env = { ...cleanEnvironment(), PATH: [programs, process.env.PATH].join(delimiter) };
      const { code, stdout, stderr } = await runCommand("sh", ["-ec", block?.content ?? "exit 1"], {
        cwd: folder,
        env,
      });
      expect(code, `${stdout}\n${stderr}`).toBe(0);
      expect(stdout).toContain(`start etcd on ${environment}-cp-1`);
    } finally {
      for (const path of [folder, programs]) rmSync(path, { recursive: true, force: true });
    }
  },
);
