// SPDX-License-Identifier: Apache-2.0
// The script for a real AWS account with the real command and the real terraform. The providers only remember, so that no
// machine answers: the run fails after its deploy, and everything has to be taken down.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { standIns, throughStandIns } from "../pages/clouds.ts";
import { everything } from "../support/everything.ts";
import { findProgram } from "../support/programs.ts";

const terraform = findProgram("terraform");

describe.skipIf(!everything || terraform === undefined)("the script for a real AWS account", () => {
  const root = mkdtempSync(join(tmpdir(), "talosmith-smoke-"));
  const folder = join(root, "run");
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  test.each([
    ["public machines", []],
    ["private machines and a pool with scaling", ["--burst"]],
  ])("deploys %s and takes down what it has deployed", { timeout: 600_000 }, async (_, more) => {
    const mirror = await standIns();
    const settings = join(root, "terraform.rc");
    writeFileSync(settings, `provider_installation {\n  filesystem_mirror {\n    path = "${mirror}"\n  }\n}\n`);
    mkdirSync(join(root, "bin"), { recursive: true });
    const program = `#!/bin/sh\n${throughStandIns(terraform ?? "")}\n`;
    writeFileSync(join(root, "bin/terraform"), program, { mode: 0o755 });
    const env = {
      ...process.env,
      PATH: `${join(root, "bin")}${delimiter}${process.env.PATH}`,
      TF_CLI_CONFIG_FILE: settings,
    };
    const place = ["--region", "eu-central-1", "--account", "111122223333", "--admin-cidr", "203.0.113.7/32"];
    const words = ["--import", "tsx", "scripts/aws-smoke.ts", ...place, "--folder", folder, ...more];
    const { status, stdout, stderr } = spawnSync(process.execPath, words, { env, encoding: "utf8" });
    const said = `${stdout}${stderr}`;
    expect(said).toMatch(/^1 of \d+, deploy: \d+ s$/m);
    expect(said).toContain("but the cluster is not healthy");
    expect(said).toContain("teardown, attempt 1: destroyed");
    expect(status).toBe(1);
    expect(existsSync(folder)).toBe(false);
    expect(readFileSync(`${folder}.log`, "utf8")).toContain("smoke is destroyed.");
  });
});
