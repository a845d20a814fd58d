// SPDX-License-Identifier: Apache-2.0
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Checkout, createCheckout } from "../support/checkout.ts";
import { runCommand } from "../support/run-command.ts";
import { cleanEnvironment, findTools } from "../support/terraform.ts";

const tofu = findTools().find(({ name }) => name === "tofu");

describe("a state that OpenTofu encrypts", () => {
  let checkout: Checkout;
  const talosmith = (args: readonly string[], passphrase = "correct horse battery staple") =>
    runCommand("node", ["bin/talosmith.js", ...args], {
      cwd: checkout.root,
      env: cleanEnvironment({ TERRAFORM_BINARY_NAME: tofu?.path ?? "", TF_VAR_state_passphrase: passphrase }),
    });
  const state = () => readFileSync(join(checkout.root, "state/local.tfstate"), "utf8");

  beforeAll(() => {
    if (tofu === undefined) return;
    checkout = createCheckout();
    writeFileSync(
      join(checkout.root, "environments/local.yaml"),
      `infrastructure: { kind: simulated }
controlPlane: { count: 1 }
workers: []
secrets: { file: generated/local/secrets.yaml }
backend: { kind: local, encryption: passphrase }
outputs: { kubeconfig: true }
`,
    );
  });

  afterAll(async () => {
    if (tofu === undefined) return;
    if (existsSync(join(checkout.root, "generated/.simulator"))) await talosmith(["destroy", "local"]);
    checkout.remove();
  });

  test.skipIf(tofu === undefined)("says nothing of the cluster to whoever reads it", async () => {
    const { code, stdout, stderr } = await talosmith(["deploy", "local", "--auto-approve"]);
    expect(`${stdout}${stderr}`.slice(-3000) + code).toMatch(/0$/);
    expect(state()).toContain('"encrypted_data"');
    expect(state()).not.toContain("talosmith_cluster");
  });

  test.skipIf(tofu === undefined)("is read with the passphrase, and with no other", async () => {
    expect((await talosmith(["plan", "local"])).code).toBe(0);
    expect(await talosmith(["plan", "local"], "another horse altogether")).toMatchObject({ code: 1 });
    expect((await talosmith(["plan", "local"], "")).stderr).toContain("TF_VAR_state_passphrase is not set");
  });

  test.skipIf(tofu === undefined)("keeps its manager in `up`, and is removed by a destroy", async () => {
    const again = await talosmith(["up", "local"]);
    expect(again.stderr).toContain(
      "local is managed by tofu (state/local.tfstate). --without-terraform is for new clusters.",
    );
    expect(again.code).toBe(0);
    expect((await talosmith(["destroy", "local"])).stderr).toContain("local is destroyed");
    expect(existsSync(join(checkout.root, "state"))).toBe(false);
  });
});
