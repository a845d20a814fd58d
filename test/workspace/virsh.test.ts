// SPDX-License-Identifier: Apache-2.0
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { type Change, planWith } from "../../review/index.ts";
import { missingVirsh } from "../../workspace/virsh.ts";

const folder = mkdtempSync(join(tmpdir(), "talosmith-virsh-"));
writeFileSync(join(folder, "virsh"), "#!/bin/sh\n");
chmodSync(join(folder, "virsh"), 0o755);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const change = (address: string, action: Change["action"]): Change => ({
  address,
  type: address.split(".")[0] ?? "",
  action,
  before: {},
  after: {},
  unknown: {},
  replacedFor: [],
});
const grown = [1, 2].map((n) => change(`terraform_data.worker_disk_size["w-${n}"]`, "replace"));

test.each<[string, readonly Change[], string, string | undefined]>([
  ["disks grow", grown, "/nowhere", "the disks of w-1, w-2 grow by virsh, which is not on the PATH"],
  ["disks grow, and virsh is there", grown, folder, undefined],
  ["machines are new", [change('terraform_data.worker_disk_size["w-1"]', "create")], "/nowhere", undefined],
  ["only memory changes", [change('libvirt_domain.worker["w-1"]', "update")], "/nowhere", undefined],
])("a plan in which %s", (_, changes, PATH, message) => {
  expect(missingVirsh(planWith(changes), { PATH })?.message).toBe(message);
});
