// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { applyPatches, configRules, parsePatch } from "../../../talos/config/index.ts";
import { Contract } from "../../../talos/version/index.ts";

interface Result {
  readonly expected?: string;
  readonly error?: string;
}

interface Case extends Result {
  readonly input: string;
  readonly patch: string;
}

interface Golden {
  readonly inputs: Readonly<Record<string, string>>;
  readonly cases: readonly Case[];
}

/** What talosctl 1.13.9 makes of each patch. */
const golden: Golden = JSON.parse(readFileSync(new URL("../../golden/patch/more.json", import.meta.url), "utf8"));
/** What talosctl 1.14.1 makes of them, where that is not the same. */
const newer: { readonly more: readonly (Result | "same")[] } = JSON.parse(
  readFileSync(new URL("../../golden/patch/talos-1.14.json", import.meta.url), "utf8"),
);
const releases: Readonly<Record<string, readonly Case[]>> = {
  "1.13": golden.cases,
  "1.14": golden.cases.map(({ input, patch, ...before }, index) => {
    const now = newer.more[index];
    return { input, patch, ...(now === "same" ? before : now) };
  }),
};
const rulesOf = (minor: string) => configRules(Contract.parse(minor));
const applyBy = (minor: string, config: string, ...patches: readonly string[]) => {
  const rules = rulesOf(minor);
  const parsed = patches.map((patch) => parsePatch(patch, "patch", rules));
  return applyPatches(config, parsed, "config", rules);
};
const apply = (config: string, ...patches: readonly string[]) => applyBy("1.13", config, ...patches);

describe.each(Object.entries(releases))("a piece of config as a patch, by talosctl %s", (minor, cases) => {
  test.each(cases.filter(({ expected }) => expected !== undefined))("$patch", ({ input, patch, expected }) => {
    expect(applyBy(minor, golden.inputs[input] ?? "", patch)).toBe(expected);
  });

  test.each(cases.filter(({ error }) => error !== undefined))("is refused: $patch", ({ input, patch, error }) => {
    expect(() => applyBy(minor, golden.inputs[input] ?? "", patch)).toThrow(
      expect.objectContaining({ code: "invalid-input", message: error }),
    );
  });
});

describe("a patch", () => {
  test("leaves the patch as it is, so that it may be applied to many configs", () => {
    const patch = parsePatch(
      "machine: {certSANs: [x], sysctls: {z: '1'}, kubelet: {extraConfig: {m: {n: 1}}}}",
      "patch",
    );
    const [first, second] = ["a", "b"].map((name) =>
      applyPatches(`version: v1alpha1\nmachine: {certSANs: [${name}]}\n`, [patch, patch], "config"),
    );
    expect(first?.replaceAll("- a", "- b")).toBe(second);
  });
});

/** By talosctl 1.12 and 1.13, which merge no halves of two pairs. */
test.each([
  ["machine: {ca: {crt: Yw==}}", 'crt: Yw==\n        key: ""\n'],
  ["machine: {ca: {key: Yw==}}", 'crt: ""\n        key: Yw==\n'],
  ["machine: {ca: {}}", 'crt: ""\n        key: ""\n'],
])("a certificate and its key are replaced together: %s", (patch, expected) => {
  const config = "version: v1alpha1\nmachine: {ca: {crt: YQ==, key: Yg==}}\n";
  expect(apply(config, patch)).toContain(expected);
});

test("so is a key that stands alone", () => {
  const config = "version: v1alpha1\ncluster: {serviceAccount: {key: YQ==}}\n";
  expect(apply(config, "cluster: {serviceAccount: {}}")).toContain('key: ""');
});

/** By talosctl 1.13. */
test.each([
  ["NetworkDefaultActionConfig", "ingress: block", "ingress: accept"],
  ["VolumeConfig", "name: STATE\nencryption: {provider: luks2, keys: []}", "name: STATE\nencryption: {provider: none}"],
])("a word of %s that means the same as no word changes nothing", (kind, before, after) => {
  const document = (fields: string) => `apiVersion: v1alpha1\nkind: ${kind}\n${fields}\n`;
  const config = "version: v1alpha1\nmachine: {type: worker}\n";
  expect(apply(config, document(before), document(after))).toBe(apply(config, document(before)));
  expect(apply(config, document(after), document(before))).toBe(apply(config, document(before)));
});

describe("a delete directive", () => {
  const interfaces = (text: string) => `version: v1alpha1\nmachine:\n  network:\n    interfaces: ${text}\n`;
  const two = interfaces("[{interface: eth0, mtu: 1400}, {deviceSelector: {busPath: '0*'}, dhcp: true}]");
  const gone = (directive: string) => apply(two, interfaces(`[{${directive}, $patch: delete}]`).slice(18));

  test("finds list elements by text and by number", () => {
    expect(gone("interface: eth0")).toBe(apply(interfaces("[{deviceSelector: {busPath: '0*'}, dhcp: true}]"), ""));
    expect(gone("mtu: 1400")).toBe(apply(interfaces("[{deviceSelector: {busPath: '0*'}, dhcp: true}]"), ""));
  });

  test("never takes another element for one that it names by a whole selector", () => {
    expect(() => gone("deviceSelector: {busPath: '0*'}")).toThrow(
      expect.objectContaining({
        code: "invalid-input",
        message:
          "patch delete: path 'machine.network.interfaces.[0]' in document '/v1alpha1': failed to delete path 'machine.network.interfaces.[0]': lookup failed",
        hint: "The config has nothing at machine.network.interfaces.[0]; leave the directive out.",
      }),
    );
  });

  test("reaches into free-form lists", () => {
    const text = (list: string) => `version: v1alpha1\nmachine: {kubelet: {extraConfig: {list: ${list}}}}\n`;
    expect(apply(text("[{name: one}, {name: two}, three]"), text("[{name: two, $patch: delete}]"))).toBe(
      apply(text("[{name: one}, three]"), ""),
    );
  });

  test("says what it needs", () => {
    expect(() => parsePatch("machine: {certSANs: [{$patch: delete}]}", "patch")).toThrow(
      expect.objectContaining({
        code: "invalid-input",
        hint: 'Put "$patch: delete" under a field, a map key or a list element of the config.',
      }),
    );
    expect(() =>
      apply(golden.inputs.documents ?? "", "apiVersion: v1alpha1\nkind: LinkConfig\n$patch: delete\n"),
    ).toThrow(
      expect.objectContaining({
        code: "invalid-input",
        message: "patch delete: the config has no document LinkConfig",
        hint: "Leave the directive out, or correct kind and name.",
      }),
    );
  });

  test("of a document that only a newer contract has, as after a migration, names the contract", () => {
    const [patch, old] = ["apiVersion: v1alpha1\nkind: FilesystemTrimConfig\n$patch: delete\n", "v1.13"];
    const rules = configRules(Contract.parse(old));
    expect(() =>
      applyPatches("version: v1alpha1\nmachine: {}\n", [parsePatch(patch, "patch", rules)], "config", rules),
    ).toThrow(
      "a patch deletes FilesystemTrimConfig, which configs of contract v1.13 do not have: it is for contract v1.14 or newer",
    );
  });

  test("and what stands beside it in the same patch take effect in their order", () => {
    const documents = golden.inputs.documents ?? "";
    const remove = "apiVersion: v1alpha1\nkind: HostnameConfig\n$patch: delete\n";
    const set = "apiVersion: v1alpha1\nkind: HostnameConfig\nhostname: new\nauto: off\n";
    expect(apply(documents, `${remove}---\n${set}`)).toContain("hostname: new");
    expect(apply(documents, `${set}---\n${remove}`)).not.toContain("HostnameConfig");
  });
});
