// SPDX-License-Identifier: Apache-2.0
// The ways in which `init` finds the provider: beside a stack, in the user's folder, in a mirror.
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { installProvider, installProviderForUser, releaseProvider } from "../../provider/package.ts";
import { directoryHash } from "../../provider/packaging/install.ts";
import { findTools, Workspace } from "../support/terraform.ts";
import { zipEntries } from "../support/zip-entries.ts";

const tools = findTools();
const work = mkdtempSync(join(tmpdir(), "talosmith-install-"));
const workspaces: Workspace[] = [];
afterAll(() => {
  for (const workspace of workspaces) workspace.remove();
  rmSync(work, { recursive: true, force: true });
});

test.skipIf(tools.length === 0)("terraform or tofu is there", () => expect(tools).not.toEqual([]));

const body = `
terraform {
  required_providers {
    talosmith = {
      source  = "talosmith.internal/talosmith/talosmith"
      version = "0.1.0"
    }
  }
}
output "mac" { value = provider::talosmith::node_mac("worker", 0) }
`;

describe.each(tools)("$name", (tool) => {
  const open = (environment: Record<string, string> = {}) => {
    const workspace = new Workspace(tool, environment);
    workspaces.push(workspace);
    workspace.write("main.tf", body);
    return workspace;
  };

  test("init finds the provider beside the stack, and takes a new content of the same version", async () => {
    const workspace = open();
    const { hash } = await installProvider(workspace.directory);
    const lock = workspace.read(".terraform.lock.hcl");
    await workspace.ok(["init", "-input=false"]);
    expect(workspace.read(".terraform.lock.hcl")).toBe(lock);
    await workspace.ok(["init", "-input=false", "-lockfile=readonly"]);
    workspace.write(".terraform.lock.hcl", lock.replace(hash, "h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="));
    expect((await workspace.run(["init", "-input=false"])).code).toBe(1);
    await installProvider(workspace.directory);
    await workspace.ok(["init", "-input=false"]);
    await workspace.apply();
  });

  // Terraform checks the provider's directory against the lock file at each run, and nothing else.
  test("the provider stores nothing that its next start could run in place of the checked files", async () => {
    const writable = ["home", "temporary", "data"].map((name) => join(work, `${name}-of-${tool.name}`));
    for (const directory of writable) mkdirSync(directory);
    const [HOME = "", TMPDIR = "", TF_DATA_DIR = ""] = writable;
    const workspace = open({ HOME, TMPDIR, TF_DATA_DIR });
    await installProvider(workspace.directory);
    await workspace.ok(["init", "-input=false"]);
    await workspace.apply();
    expect(writable.map((directory) => readdirSync(directory))).toEqual([[], [], ["providers"]]);
  });

  test("init finds the provider in the user's folder from any directory", async () => {
    const home = join(work, `home-${tool.name}`);
    const { hash } = await installProviderForUser(join(home, ".terraform.d", "plugins"));
    const workspace = open({ HOME: home });
    await workspace.ok(["init", "-input=false"]);
    expect(workspace.read(".terraform.lock.hcl")).toContain(hash);
    await workspace.apply();
  });

  test("init finds the provider in a mirror made of the release's archives", async () => {
    const release = join(work, `release-${tool.name}`);
    const { hash } = await releaseProvider(release);
    const settings = join(work, `${tool.name}.rc`);
    writeFileSync(
      settings,
      `provider_installation {\n  filesystem_mirror {\n    path = "${join(release, "mirror")}"\n  }\n}\n`,
    );
    const workspace = open({ TF_CLI_CONFIG_FILE: settings });
    await workspace.ok(["init", "-input=false"]);
    expect(workspace.read(".terraform.lock.hcl")).toContain(hash);
    await workspace.apply();
  });
});

test("the release has an archive for each platform, the same content in all, and their checksums", async () => {
  const release = join(work, "release");
  const { hash } = await releaseProvider(release);
  const names = readdirSync(release).filter((name) => name.endsWith(".zip"));
  expect(names).toEqual(
    ["darwin_amd64", "darwin_arm64", "linux_amd64", "linux_arm64"].map(
      (platform) => `terraform-provider-talosmith_0.1.0_${platform}.zip`,
    ),
  );
  for (const name of names) expect(directoryHash(zipEntries(readFileSync(join(release, name))))).toBe(hash);
  const sums = readFileSync(join(release, "terraform-provider-talosmith_0.1.0_SHA256SUMS"), "utf8");
  for (const line of sums.trim().split("\n")) {
    const [sum, name = ""] = line.split("  ");
    expect(
      createHash("sha256")
        .update(readFileSync(join(release, name)))
        .digest("hex"),
    ).toBe(sum);
  }
});
