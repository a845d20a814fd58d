// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { applyPatches, type ConfigRules, configRules, parsePatch } from "../../../talos/config/index.ts";
import { Contract } from "../../../talos/version/index.ts";

interface Case {
  readonly id: string;
  readonly input: string;
  readonly patches: readonly string[];
  readonly note: string;
  readonly ok: boolean;
  readonly expected?: string;
  readonly error?: string;
  readonly quirk?: string;
}

const golden = new URL("../../golden/", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, golden), "utf8");
const cases: readonly Case[] = JSON.parse(read("patch/index.json"));

type Result = { readonly expected: string } | { readonly error: string };

/** Made with talosctl 1.14.1; `same` as by 1.13.9. */
const newer: { readonly cases: Readonly<Record<string, Result | "same">> } = JSON.parse(read("patch/talos-1.14.json"));
const [v13, v14] = ["v1.13", "v1.14"].map((minor) => configRules(Contract.parse(minor))) as [ConfigRules, ConfigRules];

function patched(row: Case, rules: ConfigRules): string {
  const patches = row.patches.map((path) => parsePatch(read(path), path, rules));
  return applyPatches(read(row.input), patches, row.input, rules);
}

function resultOf(row: Case, rules: ConfigRules): Result {
  const first = row.ok ? { expected: read(row.expected ?? "") } : { error: row.error ?? "" };
  const later = newer.cases[row.id];
  return rules === v13 || later === undefined || later === "same" ? first : later;
}

describe.each([v13, v14])("patches by talosctl of $contract", (rules) => {
  const rows = cases.filter((row) => row.quirk === undefined && row.id !== "invalid-yaml");
  test.each(rows.map((row) => [`${row.id}: ${row.note}`, row] as const))("%s", (_, row) => {
    const result = resultOf(row, rules);
    if ("expected" in result) expect(patched(row, rules)).toBe(result.expected);
    else
      expect(() => patched(row, rules)).toThrow(
        expect.objectContaining({ message: result.error, code: "invalid-input" }),
      );
  });
});

describe("where upstream loses data or fails, we do the sane thing", () => {
  const row = (id: string): Case => {
    const found = cases.find((candidate) => candidate.id === id);
    if (found === undefined) throw new Error(`no case ${id}`);
    return found;
  };
  const apply = (config: string, patch: string): string =>
    applyPatches(config, [parsePatch(patch, "patch", v13)], "config", v13);

  test("broken YAML in a patch is refused with its place", () => {
    expect(() => patched(row("invalid-yaml"), v13)).toThrow(
      /^decode error: yaml: patch\/invalid-yaml\/patch\.yaml:\d+:\d+: /,
    );
  });

  test("a patch without content changes nothing but the layout", () => {
    const result = patched(row("empty-patch"), v13);
    expect(result).toBe(apply(read(row("empty-patch").input), "machine: {}"));
    expect(result).toMatch(/^version: v1alpha1\nmachine:\n {4}type: worker\n/);
  });

  test("a size or disk selector that the patch leaves out stays", () => {
    const result = patched(row("user-volume-merge"), v13);
    expect(result).toContain('match: disk.transport == "nvme"');
    expect(result).toContain("minSize: 10GB");
  });

  test("deleting a document that is not there is an error up to 1.13, where talosctl crashes", () => {
    const patch = "apiVersion: v1alpha1\nkind: LinkConfig\nname: nope\n$patch: delete\n";
    expect(() => apply(read("inputs/multi.yaml"), patch)).toThrow("the config has no document LinkConfig/nope");
  });

  test("null inside a free-form object is ignored", () => {
    expect(apply(read("inputs/mini.yaml"), "machine: {kubelet: {extraConfig: {maxPods: null}}}")).toContain(
      "maxPods: 110",
    );
  });

  test("text that begins with a space stays the same when it stands in a list", () => {
    const once = apply(read("inputs/mini.yaml"), 'machine: {certSANs: [" a\\n b"]}');
    expect(apply(once, "machine: {}")).toBe(once);
  });
});

describe("a patch with an unknown key says where it is and what was meant", () => {
  test.each([
    [
      "machine:\n  kubelet:\n    imgae: x\n",
      "patch:3:5: machine.kubelet.imgae is not a known field, the nearest known field is image.",
    ],
    [
      "apiVersion: v1alpha1\nkind: LinkConfig\nname: eth0\nadresses: []\n",
      "patch:4:1: adresses is not a known field, the nearest known field is addresses.",
    ],
    ["apiVersion: v1alpha1\nkind: LinkConfgi\n", "patch:1:1: did you mean LinkConfig?"],
    [
      "machine:\n  network:\n    interfaces:\n      - interfaec: eth0\n",
      "patch:4:9: machine.network.interfaces[0].interfaec is not a known field, the nearest known field is interface.",
    ],
  ])("%j", (patch, hint) => {
    expect(() => parsePatch(patch, "patch")).toThrow(expect.objectContaining({ hint }));
  });
});

test("the value of a misspelled secret is not repeated", () => {
  const patch = "machine:\n  tokne: abcdef.0123456789abcdef\n";
  expect(() => parsePatch(patch, "patch")).toThrow("machine:\n    tokne: ******");
});

describe("JSON patches that go too far", () => {
  const config = "machine:\n  type: worker\n  files: []\n";
  const apply = (operations: readonly object[]) =>
    applyPatches(config, [parsePatch(JSON.stringify(operations), "p")], "c");

  test("a patch leaves itself as it is: the second machine gets what the first one got", () => {
    const patch = parsePatch(
      JSON.stringify([
        { op: "add", path: "/machine/files", value: [] },
        { op: "add", path: "/machine/files/-", value: { path: "/a" } },
      ]),
      "patch",
    );
    expect(applyPatches(config, [patch], "c")).toBe(applyPatches(config, [patch], "c"));
  });

  test("copies of copies are refused before they fill the memory", () => {
    const copies = Array.from({ length: 60 }, (_, index) => ({ op: "copy", from: "", path: `/x${index}` }));
    expect(() => apply(copies)).toThrow("copy operations make more than 100000 values");
  });

  test.each([
    [
      "nesting that nobody can read back",
      Array.from({ length: 120 }, (_, index) => ({ op: "add", path: "/a".repeat(index + 1), value: {} })),
      "more than 100 levels",
    ],
    ["a key that nobody can read back", [{ op: "add", path: "/__proto__", value: 1 }], 'a key "__proto__"'],
  ])("%s is refused", (_, operations, message) => {
    expect(() => apply(operations)).toThrow(message);
  });
});

test("a patch of a thousand documents is read in one go, and one that stands twice is still noticed", () => {
  const documents = Array.from(
    { length: 1000 },
    (_, index) => `apiVersion: v1alpha1\nkind: LinkConfig\nname: eth${index}\n`,
  );
  const patch = parsePatch(documents.join("---\n"), "patch", v13);
  expect(patch.kind === "strategic" ? patch.steps.length : 0).toBe(1000);
  expect(() => parsePatch([...documents, documents[0]].join("---\n"), "patch", v13)).toThrow("duplicate document");
});
