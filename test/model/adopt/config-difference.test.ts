// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { patchesBetween } from "../../../model/adopt/index.ts";
import { applyPatches, generateMachineConfig, MachineConfig, parsePatch } from "../../../talos/config/index.ts";
import { TalosVersion } from "../../../talos/version/index.ts";
import { testSecrets } from "../../engine/fixture.ts";

const config = (talos: string, more: object = {}, patches: readonly string[] = []) =>
  generateMachineConfig(
    {
      clusterName: "lab",
      endpoint: "https://10.0.0.1:6443",
      talosVersion: TalosVersion.parse(talos),
      kubernetesVersion: "1.34.2",
      ...more,
    },
    testSecrets(),
    { type: "controlplane", hostname: "cp-1", patches },
  );

const between = (from: string, to: string) => patchesBetween(new MachineConfig(from), new MachineConfig(to));

const patched = (from: string, to: string) =>
  applyPatches(
    from,
    between(from, to).map((patch) => parsePatch(stringify(patch), "patch")),
    "config",
  );

describe("patches between two configs", () => {
  test.each<[string, string, string]>([
    ["of the same cluster", config("v1.12.4"), config("v1.12.4")],
    [
      "that differ in texts and maps",
      config("v1.12.4"),
      config("v1.12.4", {}, ["machine: { sysctls: { a: b }, kubelet: { extraArgs: { v: '4' } } }"]),
    ],
    [
      "that differ in lists",
      config("v1.12.4", { additionalSans: ["a", "b"] }),
      config("v1.12.4", { additionalSans: ["b", "c"] }),
    ],
    [
      "with more documents",
      config("v1.12.4"),
      config("v1.12.4", {}, ["apiVersion: v1alpha1\nkind: WatchdogTimerConfig\ndevice: /dev/watchdog0"]),
    ],
    [
      "with fewer documents",
      config("v1.12.4", {}, ["apiVersion: v1alpha1\nkind: WatchdogTimerConfig\ndevice: /dev/watchdog0"]),
      config("v1.12.4"),
    ],
    [
      "where the machine names itself",
      config("v1.12.4"),
      config("v1.12.4", {}, ["apiVersion: v1alpha1\nkind: HostnameConfig\nauto: stable\nhostname: { $patch: delete }"]),
    ],
    [
      "that differ in a certificate of the same key",
      config("v1.12.4", {}, ["cluster: { aggregatorCA: { crt: YQ==, key: Yg== } }"]),
      config("v1.12.4", {}, ["cluster: { aggregatorCA: { crt: Yw==, key: Yg== } }"]),
    ],
    ["of an older form", config("v1.12.4"), config("v1.10.7")],
    ["of a newer form", config("v1.11.5"), config("v1.12.4")],
  ])("%s make the second of the first", (_, from, to) => {
    expect(between(patched(from, to), to)).toEqual([]);
  });

  test("say only what differs", () => {
    const to = config("v1.12.4", {}, ["machine: { sysctls: { a: b } }"]);
    expect(between(config("v1.12.4"), to)).toEqual([{ machine: { sysctls: { a: "b" } } }]);
  });
});
