// SPDX-License-Identifier: Apache-2.0
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { restoreLock } from "../../../workspace/synthesize/complete-stack.ts";

it("puts the committed lock beside the stack, and nothing where there is none", async () => {
  const root = mkdtempSync(join(tmpdir(), "talosmith-lock-"));
  try {
    const stack = join(root, "cdktf.out/stacks/production");
    mkdirSync(join(root, "locks"));
    mkdirSync(stack, { recursive: true });
    expect(await restoreLock(root, "production", stack)).toBe(false);
    expect(existsSync(join(stack, ".terraform.lock.hcl"))).toBe(false);
    writeFileSync(join(root, "locks/production.hcl"), 'provider "registry.terraform.io/hashicorp/aws" {}\n');
    expect(await restoreLock(root, "production", stack)).toBe(true);
    expect(readFileSync(join(stack, ".terraform.lock.hcl"), "utf8")).toContain("hashicorp/aws");
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
