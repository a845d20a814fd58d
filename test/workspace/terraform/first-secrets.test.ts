// SPDX-License-Identifier: Apache-2.0
// The secrets of a new cluster are there before Terraform applies anything: user-data on AWS is made of them.
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { registerDeploy } from "../../../cli/commands/lifecycle.ts";
import { createProgram, runProgram } from "../../../cli/program.ts";
import { systemClock } from "../../../talos/clock.ts";
import { testContext } from "../../support/command-context.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "talosmith-first-secrets-"));
  mkdirSync(join(root, "environments"));
  writeFileSync(join(root, "cdktf.json"), "{}");
  writeFileSync(
    join(root, "environments/lab.yaml"),
    "infrastructure: { kind: aws, region: eu-central-1, adminCidrs: [198.51.100.0/24] }\ncontrolPlane: { count: 1 }\n",
  );
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Deploys with a terraform that plans one change of the cluster, and whose apply fails after it has looked for the secrets. */
async function deploy(actions: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const values = { name: "lab", machines: {}, talos_version: "v1.13.9", kubernetes_version: "1.36.3" };
  const change = { actions, before: actions.includes("create") ? null : values, after: values };
  const resource = { address: "talosmith_cluster.cluster", type: "talosmith_cluster", change };
  writeFileSync(join(root, "plan.json"), JSON.stringify({ format_version: "1.2", resource_changes: [resource] }));
  const terraform = join(root, "terraform");
  const script = [
    "#!/bin/sh",
    '[ "$1" = plan ] && exit 2',
    `[ "$1" = show ] && cat "${root}/plan.json"`,
    `[ "$1" = apply ] && { cp "${root}/secrets/lab.yaml" "${root}/at-apply.yaml"; exit 1; }`,
    "exit 0",
  ];
  writeFileSync(terraform, script.join("\n"));
  chmodSync(terraform, 0o755);
  const all = { PATH: process.env.PATH ?? "", TERRAFORM_BINARY_NAME: terraform, ...env };
  const context = testContext({ cwd: root, env: all, clock: systemClock });
  await runProgram(createProgram(context, [registerDeploy]), ["deploy", "lab", "--yes"], context);
  return context.written;
}

const secrets = () => join(root, "secrets/lab.yaml");

test("a first deploy makes them before it applies, for its owner alone", async () => {
  expect(await deploy(["create"])).toMatchObject({ exitCode: 1 });
  expect(readFileSync(join(root, "at-apply.yaml"), "utf8")).toBe(readFileSync(secrets(), "utf8"));
  expect(statSync(secrets()).mode & 0o777).toBe(0o600);
});

test("where CI is set nothing is applied: the file would be lost with the machine", async () => {
  const { stderr } = await deploy(["create"], { CI: "true" });
  expect(stderr).toContain("secrets would be lost with this machine");
  expect(existsSync(secrets())).toBe(false);
});

test("those of a cluster that exists are never made anew", async () => {
  await deploy(["update"]);
  expect(existsSync(secrets())).toBe(false);
});
