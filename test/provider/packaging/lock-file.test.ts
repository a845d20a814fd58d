// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { mergeLockFile } from "../../../provider/packaging/install.ts";

const entry = { source: "talosmith.internal/talosmith/talosmith", version: "0.1.0", hash: "h1:new=" };
const other = `provider "registry.opentofu.org/hashicorp/aws" {
  version     = "6.1.0"
  constraints = "~> 6.0"
  hashes = [
    "h1:other=",
    "zh:0123",
  ]
}`;
const later = other.replace("registry.opentofu.org/hashicorp/aws", "zzz.example/a/b");

describe("the lock file", () => {
  test("of a new stack has our entry in Terraform's own form", () => {
    expect(mergeLockFile("", entry)).toBe(`# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.

provider "talosmith.internal/talosmith/talosmith" {
  version     = "0.1.0"
  constraints = "0.1.0"
  hashes = [
    "h1:new=",
  ]
}
`);
  });

  test("keeps the entries of other providers, in order, and renews ours", () => {
    const old = mergeLockFile(`# head\n\n${later}\n\n${other}\n`, { ...entry, hash: "h1:old=", version: "0.0.9" });
    const merged = mergeLockFile(old, entry);
    expect(merged).not.toContain("h1:old=");
    expect(merged.match(/^provider "([^"]+)"/gm)).toEqual([
      'provider "registry.opentofu.org/hashicorp/aws"',
      'provider "talosmith.internal/talosmith/talosmith"',
      'provider "zzz.example/a/b"',
    ]);
    expect(merged).toContain(other);
    expect(merged).toContain(later);
  });

  test("keeps the entries of a file that was checked out with other line ends", () => {
    expect(mergeLockFile(`# head\n\n${other}\n`.replaceAll("\n", "\r\n"), entry)).toContain(other);
  });

  test("does not change by merging twice", () => {
    const once = mergeLockFile(`${other}\n`, entry);
    expect(mergeLockFile(once, entry)).toBe(once);
  });
});
