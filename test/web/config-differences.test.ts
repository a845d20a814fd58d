// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { generateMachineConfig, MachineConfig } from "../../talos/config/index.ts";
import { Contract, TalosVersion } from "../../talos/version/index.ts";
import { configDifferences } from "../../web/server/machine-detail.ts";
import { clusterOf, secrets } from "../talos/config/golden-secrets.ts";

const configOf = (contract: string): MachineConfig =>
  new MachineConfig(
    generateMachineConfig(clusterOf(contract, { kubernetesVersion: "1.34.0" }), secrets, { type: "worker" }),
  );

test("the page tells documents that come or go as a whole, and in one line what only moves", () => {
  const machine = (config: MachineConfig) =>
    ({ name: "w-1", role: "worker", address: "", config, installImage: "" }) as const;
  const [contract, talosVersion] = [Contract.parse("v1.14"), TalosVersion.parse("v1.14.1")];
  const desired = { contract, talosVersion };
  const there = configDifferences(desired, machine(configOf("v1.14")), configOf("v1.13"), (text) => text);
  expect(there.changes).toContainEqual({
    document: "SecurityProfileConfig",
    path: "",
    before: null,
    after: "the whole document",
    reboot: false,
  });
  expect(there.changes.filter(({ before, after }) => before === null && after === null)).toEqual([]);
  expect(there.moved).toMatch(/^moved, not changed, for Talos 1\.14 .*cluster\.ca/);
  const migrated = { ...desired, previousContract: Contract.parse("v1.13") };
  const same = configDifferences(migrated, machine(configOf("v1.14")), configOf("v1.13"), (text) => text);
  expect(same.changes).not.toContainEqual(expect.objectContaining({ path: "machine.kubelet" }));
  expect(same.moved).toMatch(/\. no effect, contract v1\.14 means the same: .*machine\.kubelet/);
  const back = configDifferences(desired, machine(configOf("v1.13")), configOf("v1.14"), (text) => text);
  expect(back.changes).toContainEqual(
    expect.objectContaining({ document: "SecurityProfileConfig", before: "the whole document", after: null }),
  );
  expect(back.moved).toBeNull();
});
