// SPDX-License-Identifier: Apache-2.0
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TerraformOutput } from "cdktn";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { protectStates } from "../../../workspace/synthesize/complete-stack.ts";
import { synthesizeEnvironments } from "../../../workspace/synthesize/index.ts";

let root: string;
const environment = (name: string, more = "") =>
  writeFileSync(
    join(root, `environments/${name}.yaml`),
    `infrastructure: { kind: simulated }\ncontrolPlane: { count: 1 }\n${more}`,
  );
const stack = (name: string, file: string) => join(root, "cdktf.out/stacks", name, file);
const json = (name: string) => JSON.parse(readFileSync(stack(name, "cdk.tf.json"), "utf8"));

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "talosmith-project-"));
  mkdirSync(join(root, "environments"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

test("the folder of the states is made private though a lock in it goes meanwhile, as at the end of an apply", async () => {
  mkdirSync(join(root, "state"));
  const files = Array.from({ length: 200 }, (_, index) => join(root, "state", `.${index}.tfstate.lock.info`));
  for (const file of files) writeFileSync(file, "{}", { mode: 0o644 });
  const done = protectStates(root);
  const isPrivate = (file: string) => (statSync(file).mode & 0o777) === 0o600;
  while (!files.some(isPrivate)) await new Promise(setImmediate);
  for (const file of files) rmSync(file);
  await expect(done).resolves.toBeUndefined();
});

describe("a synthesized environment", () => {
  test("is ready for init: provider, its lock entry beside the committed ones, a private folder for the state", async () => {
    environment("one");
    mkdirSync(join(root, "locks"));
    writeFileSync(join(root, "locks/one.hcl"), 'provider "registry.terraform.io/hashicorp/aws" {\n}\n');
    mkdirSync(join(root, "state"));
    writeFileSync(join(root, "state/one.tfstate"), "{}");
    chmodSync(join(root, "state/one.tfstate"), 0o644);
    await synthesizeEnvironments({ root });
    const lock = readFileSync(stack("one", ".terraform.lock.hcl"), "utf8");
    expect(lock).toContain('provider "registry.terraform.io/hashicorp/aws"');
    expect(lock).toContain('provider "talosmith.internal/talosmith/talosmith"');
    expect(existsSync(stack("one", "terraform.d/plugins/talosmith.internal/talosmith/talosmith"))).toBe(true);
    expect(json("one").terraform.backend).toEqual({ local: { path: "../../../state/one.tfstate" } });
    expect(statSync(join(root, "state")).mode & 0o777).toBe(0o700);
    expect(statSync(join(root, "state/one.tfstate")).mode & 0o777).toBe(0o600);
  });

  test("is written though another has a fault", async () => {
    environment("good");
    writeFileSync(join(root, "environments/bad.yaml"), "infrastructure: { kind: simulated }\n");
    const { stacks, failures } = await synthesizeEnvironments({ root });
    expect(stacks.map((written) => written.environment.name)).toEqual(["good"]);
    expect(failures.map((failure) => failure.environment)).toEqual(["bad"]);
  });

  test("has what `extend` adds", async () => {
    environment("one");
    const extend = (added: ConstructorParameters<typeof TerraformOutput>[0]) =>
      void new TerraformOutput(added, "motto", { value: "more" });
    await synthesizeEnvironments({ root, extend });
    expect(json("one").output.motto).toEqual({ value: "more" });
  });

  test("is encrypted by OpenTofu only where it asks for it, with no passphrase in any file", async () => {
    environment("one", "backend: { kind: local, encryption: passphrase }\n");
    await synthesizeEnvironments({ root });
    expect(readFileSync(stack("one", "encryption.tofu"), "utf8")).toContain("passphrase = var.state_passphrase");
    expect(readFileSync(stack("one", "cdk.tf.json"), "utf8")).not.toContain("encryption");
    environment("one");
    await synthesizeEnvironments({ root });
    expect(existsSync(stack("one", "encryption.tofu"))).toBe(false);
  });

  test("has credentials in its outputs only where they are asked for, as sensitive ones, with a warning", async () => {
    environment("one", "outputs: { kubeconfig: true }\n");
    const { stacks } = await synthesizeEnvironments({ root });
    const { output, resource } = json("one");
    expect(output.kubeconfig).toEqual({
      description: "Content of the kubeconfig.",
      sensitive: true,
      value: '${talosmith_client_files.client.files["kubeconfig"]}',
    });
    expect(output.talosconfig).toBeUndefined();
    expect(resource.talosmith_client_files.client.contents).toEqual(["kubeconfig"]);
    expect(stacks[0]?.warnings.map(({ path }) => path)).toEqual(["outputs.kubeconfig"]);
  });
});
