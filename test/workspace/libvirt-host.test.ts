// SPDX-License-Identifier: Apache-2.0
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { libvirtHost } from "../../workspace/libvirt-host.ts";
import { beforeApply } from "../../workspace/terraform/before-apply.ts";
import { openWorkspace } from "../../workspace/workspace.ts";
import { testContext } from "../support/command-context.ts";

const root = mkdtempSync(join(tmpdir(), "talosmith-host-"));
mkdirSync(join(root, "environments"));
writeFileSync(join(root, "cdktf.json"), "{}");
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** A host with the pools default and fast, and the devices lo and br-lan. */
function answers({ devices = "net_br_lan_52_54_00_00_00_01\nnet_lo_00_00_00_00_00_00", code = 0 } = {}): void {
  const pools = code === 0 ? "echo default; echo fast" : `echo 'error: no such host' >&2; exit ${code}`;
  const script = `echo "$@" >> ${join(root, "asked")}\ncase $3 in pool-list) ${pools};; nodedev-list) printf '${devices}\\n';; esac`;
  writeFileSync(join(root, "virsh"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}

function project(infrastructure: object, workers: readonly object[] = []) {
  const file = {
    infrastructure: { kind: "libvirt", trustOnFirstUse: true, ...infrastructure },
    controlPlane: { count: 1 },
    workers,
  };
  writeFileSync(join(root, "environments/lab.yaml"), JSON.stringify(file));
  rmSync(join(root, "asked"), { force: true });
  return openWorkspace("lab", testContext({ cwd: root, env: { PATH: `${root}:/usr/bin:/bin` } }));
}

const look = (...file: Parameters<typeof project>) => libvirtHost(project(...file));

const lan = { network: { bridge: "br-lan" } };

test.each<[string, object, readonly object[], readonly string[]]>([
  ["has all that the file names", { ...lan, storagePool: "fast" }, [{ extraDisks: [{ size: "1GiB" }] }], []],
  [
    "lacks pools and the bridge",
    { storagePool: "slow" },
    [{ storagePool: "old", extraDisks: [{ size: "1GiB", storagePool: "raw" }] }],
    [
      ...["slow", "old", "raw"].map((pool) => `storage pool ${pool} is not active on qemu:///system`),
      "qemu:///system has no network bridge br0",
    ],
  ],
  ["gets its pool and its network", { storagePool: { name: "new", path: "/srv" }, network: { mode: "nat" } }, [], []],
])("a host that %s", async (_, infrastructure, workers, missing) => {
  answers();
  expect(await look(infrastructure, workers)).toEqual({ kind: "seen", missing });
  expect(readFileSync(join(root, "asked"), "utf8")).toContain("--connect qemu:///system pool-list --name");
});

test("a list of devices without the loopback device says nothing of bridges", async () => {
  answers({ devices: "net_eth0_52_54_00_00_00_01" });
  expect(await look({})).toEqual({ kind: "seen", missing: [] });
});

test("a host that virsh does not reach is not known, with the reason", async () => {
  answers({ code: 1 });
  expect(await look({})).toEqual({ kind: "unknown", reason: "error: no such host" });
});

test("a plan warns of it before the first apply, and not afterwards", async () => {
  answers();
  const workspace = project({ ...lan, storagePool: "slow" });
  expect(await beforeApply(workspace)).toEqual(["storage pool slow is not active on qemu:///system"]);
  const made = { version: 4, serial: 1, resources: [{ mode: "managed", type: "x", name: "y", instances: [{}] }] };
  mkdirSync(join(root, "state"));
  writeFileSync(join(root, "state/lab.tfstate"), JSON.stringify(made));
  expect(await beforeApply(workspace)).toEqual([]);
});

test("without virsh nothing is asked", async () => {
  rmSync(join(root, "virsh"), { force: true });
  expect(await look({})).toBeUndefined();
});
