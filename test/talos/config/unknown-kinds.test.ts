// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import {
  applyPatches,
  configRules,
  diffConfigs,
  generateMachineConfig,
  MachineConfig,
  machineRules,
  observedRules,
  parsePatch,
  redactConfig,
  secretsInPatch,
  validateConfig,
} from "../../../talos/config/index.ts";
import { Contract, TalosVersion } from "../../../talos/version/index.ts";
import { clusterOf, secrets } from "./golden-secrets.ts";

/** Newer than every release that is known. */
const newer = TalosVersion.parse("v1.99.0");
const rules = machineRules(newer);
const document = (fields: string) => `apiVersion: v1alpha1\nkind: TeleportConfig\nname: one\n${fields}`;
const patch = (text: string) => parsePatch(text, "patch", rules);
const base = generateMachineConfig(clusterOf("v1.14"), secrets, { type: "worker" });
const token = "s3cr3t-t0k3n";

describe("a document of a kind that is not known, for a Talos newer than all known", () => {
  test("is written as it is, in its own order", () => {
    const text = document("zeta: [1, a]\nalpha: {y: on, x: null, n: 1.5}\n");
    const made = generateMachineConfig({ ...clusterOf("v1.14"), talosVersion: newer }, secrets, {
      type: "worker",
      patches: [text],
    });
    expect(made).toBe(
      `${base.replace("v1.14.1", "v1.99.0")}---\n${"apiVersion: v1alpha1\nkind: TeleportConfig\nname: one\nzeta:\n    - 1\n    - a\nalpha:\n    'y': 'on'\n    x: null\n    'n': 1.5\n"}`,
    );
    expect(new MachineConfig(made, "config", rules).patched([]).text).toBe(made);
  });

  test("is patched: sections merge, lists are joined, the rest is replaced, and directives delete", () => {
    const first = applyPatches(base, [patch(document("a: {b: 1, c: [x]}\nd: 0\n"))], "config", rules);
    const apply = (text: string) => applyPatches(first, [patch(text)], "config", rules).slice(base.length + 4);
    expect(apply(document("a: {b: two, c: [y]}\n"))).toBe(
      document("a:\n    b: two\n    c:\n        - x\n        - 'y'\nd: 0\n"),
    );
    expect(apply(document("a: {b: {$patch: delete}}\n"))).toBe(document("a:\n    c:\n        - x\nd: 0\n"));
    expect(apply(document("$patch: delete\n"))).toBe("");
  });

  test("is compared by its places, and none of its values are shown", () => {
    const configs = [`token: ${token}\nsize: 1\n`, `token: ${token}2\nsize: 1\nmore: {key: ${token}}\n`].map(
      (fields) => new MachineConfig(`${base}---\n${document(fields)}`, "config", observedRules),
    ) as [MachineConfig, MachineConfig];
    const changes = diffConfigs(...configs);
    expect(changes.map(({ document: title, path, kind }) => [title, path, kind])).toEqual([
      ["TeleportConfig/one", "token", "changed"],
      ["TeleportConfig/one", "more", "added"],
    ]);
    expect(JSON.stringify(changes)).not.toContain(token);
  });

  test("is redacted as a whole, but for what names it", () => {
    const config = new MachineConfig(
      document(`list: [${token}]\nmap: {key: ${token}}\nport: 1\n`),
      "config",
      observedRules,
    );
    expect(redactConfig(config)).toBe(document("list:\n    - '******'\nmap:\n    key: '******'\nport: '******'\n"));
  });

  test("may hold secrets, which are told without their values", () => {
    expect(secretsInPatch(document(`token: ${token}\n`), "patch")).toMatchObject([
      { path: "TeleportConfig/one token", certain: false },
    ]);
  });

  test("is warned about, and not refused", () => {
    const config = new MachineConfig(`${base}---\n${document("a: 1\n")}`, "config", rules);
    const { findings, error } = validateConfig(config, { mode: "metal", talos: newer });
    expect(error).toBeUndefined();
    expect(findings).toEqual([
      {
        severity: "warning",
        document: "TeleportConfig/one",
        path: "",
        message:
          'TeleportConfig/one: the kind "TeleportConfig" is not known, it is sent to the machine as it is, without any check',
      },
    ]);
  });
});

describe("for a release that is known, it is an error", () => {
  const known = TalosVersion.parse("v1.14.1");

  test("in a patch, with the nearest kind", () => {
    expect(() =>
      parsePatch("apiVersion: v1alpha1\nkind: KubletConfig\n", "patch", configRules(Contract.parse("v1.14"), known)),
    ).toThrow(
      expect.objectContaining({
        message: 'error decoding document v1alpha1/KubletConfig/ (line 1): "KubletConfig" "v1alpha1": not registered',
        hint: "patch:1:1: did you mean KubeletConfig?",
      }),
    );
  });

  test("in a config that was read before it was known where it goes", () => {
    const config = new MachineConfig(`${base}---\n${document("a: 1\n")}`, "config", observedRules);
    expect(validateConfig(config, { mode: "metal", talos: known }).error).toContain(
      '"TeleportConfig" "v1alpha1": not registered',
    );
  });
});
