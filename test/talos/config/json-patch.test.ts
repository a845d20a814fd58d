// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { applyPatches, parsePatch } from "../../../talos/config/index.ts";

const config = "machine:\n  certSANs:\n    - a\n    - b\n  type: worker\n  network: {hostname: x}\n";
const applied = (text: string, ...patches: readonly string[]) =>
  applyPatches(
    text,
    patches.map((patch) => parsePatch(patch, "patch")),
    "config",
  );
const json = (...operations: readonly object[]) => JSON.stringify(operations);
describe("an operation of a JSON patch does what talosctl makes of it", () => {
  test.each<[string, object, string]>([
    ["add at the front", { op: "add", path: "/machine/certSANs/0", value: "t" }, "t a b"],
    ["add in the middle", { op: "add", path: "/machine/certSANs/1", value: "t" }, "a t b"],
    ["add at the end", { op: "add", path: "/machine/certSANs/2", value: "t" }, "a b t"],
    ["add at the end, whatever its number", { op: "add", path: "/machine/certSANs/-", value: "t" }, "a b t"],
    ["add counted from the end", { op: "add", path: "/machine/certSANs/-1", value: "t" }, "a b t"],
    ["add counted from the end to the front", { op: "add", path: "/machine/certSANs/-3", value: "t" }, "t a b"],
    ["add at minus nothing", { op: "add", path: "/machine/certSANs/-0", value: "t" }, "t a b"],
    ["remove the first", { op: "remove", path: "/machine/certSANs/0" }, "b"],
    ["remove the last", { op: "remove", path: "/machine/certSANs/-1" }, "a"],
    ["remove the first, counted from the end", { op: "remove", path: "/machine/certSANs/-2" }, "b"],
    ["replace the first", { op: "replace", path: "/machine/certSANs/0", value: "t" }, "t b"],
    ["replace the last", { op: "replace", path: "/machine/certSANs/-1", value: "t" }, "a t"],
    ["move within a list", { op: "move", from: "/machine/certSANs/0", path: "/machine/certSANs/1" }, "b a"],
    ["test a text", { op: "test", path: "/machine/type", value: "worker" }, "a b"],
    ["test a list", { op: "test", path: "/machine/certSANs", value: ["a", "b"] }, "a b"],
    ["test an item", { op: "test", path: "/machine/certSANs/-1", value: "b" }, "a b"],
  ])("%s", (_, operation, names) => {
    const list = names.replaceAll(/(\w) ?/g, "  - $1\n");
    expect(applied(config, json(operation))).toBe(
      `machine:\n  certSANs:\n${list}  network:\n    hostname: x\n  type: worker\n`,
    );
  });

  test("takes a place of two digits", () => {
    const long = `machine:\n  certSANs: [${Array.from({ length: 12 }, (_, place) => `n${place}`).join(", ")}]\n`;
    const changed = applied(long, json({ op: "replace", path: "/machine/certSANs/10", value: "t" }));
    expect(changed).toContain("  - n9\n  - t\n  - n11\n");
  });

  const machine = "machine:\n  certSANs:\n  - a\n  - b\n";
  const network = "  network:\n    hostname: x\n";
  test.each<[string, object, string]>([
    [
      "add a key",
      { op: "add", path: "/machine/token", value: "t" },
      `${machine}${network}  token: t\n  type: worker\n`,
    ],
    [
      "add a key, whatever stands before the first slash",
      { op: "add", path: "x/machine/token", value: "t" },
      `${machine}${network}  token: t\n  type: worker\n`,
    ],
    [
      "add nothing",
      { op: "add", path: "/machine/token", value: null },
      `${machine}${network}  token: null\n  type: worker\n`,
    ],
    [
      "add under a name with slashes",
      { op: "add", path: "/machine/b~1c~0d~01", value: { z: 1, a: [{ y: 1, x: 2 }] } },
      `machine:\n  b/c~d~1:\n    a:\n    - x: 2\n      "y": 1\n    z: 1\n${machine.slice(9)}${network}  type: worker\n`,
    ],
    ["remove a key", { op: "remove", path: "/machine/network" }, `${machine}  type: worker\n`],
    ["replace a key", { op: "replace", path: "/machine/type", value: "x" }, `${machine}${network}  type: x\n`],
    [
      "replace a key that is not there",
      { op: "replace", path: "/machine/token", value: "t" },
      `${machine}${network}  token: t\n  type: worker\n`,
    ],
    ["replace everything", { op: "replace", path: "", value: { version: "v1alpha1" } }, "version: v1alpha1\n"],
    ["add everything", { op: "add", path: "", value: { version: "v1alpha1" } }, "version: v1alpha1\n"],
    [
      "move a key",
      { op: "move", from: "/machine/type", path: "/machine/token" },
      `${machine}${network}  token: worker\n`,
    ],
    [
      "copy an item",
      { op: "copy", from: "/machine/certSANs/-1", path: "/machine/token" },
      `${machine}${network}  token: b\n  type: worker\n`,
    ],
  ])("%s", (_, operation, expected) => {
    expect(applied(config, json(operation))).toBe(expected);
  });

  test("no operation is none", () => {
    expect(applied(config, "[]")).toBe(`${machine}${network}  type: worker\n`);
  });

  test("a copy is another value than what it was copied from", () => {
    const copied = json(
      { op: "copy", from: "/machine/certSANs", path: "/machine/other" },
      { op: "add", path: "/machine/other/-", value: "t" },
    );
    expect(applied(config, copied)).toBe(`${machine}${network}  other:\n  - a\n  - b\n  - t\n  type: worker\n`);
  });

  test("items that are null are items", () => {
    const text = "machine:\n  certSANs: [null, a]\n";
    expect(applied(text, json({ op: "remove", path: "/machine/certSANs/0" }))).toBe("machine:\n  certSANs:\n  - a\n");
    expect(applied(text, json({ op: "move", from: "/machine/certSANs/0", path: "/machine/certSANs/-" }))).toBe(
      "machine:\n  certSANs:\n  - a\n  - null\n",
    );
    expect(applied("machine:\n  token: null\n", json({ op: "remove", path: "/machine/token" }))).toBe("machine: {}\n");
  });

  test("the way leads through lists and maps", () => {
    const text = "machine:\n  a: {b: {c: [1, {d: 2}]}}\n";
    expect(applied(text, json({ op: "replace", path: "/machine/a/b/c/1/d", value: "x" }))).toBe(
      "machine:\n  a:\n    b:\n      c:\n      - 1\n      - d: x\n",
    );
  });

  test("one patch follows another, of either kind", () => {
    expect(
      applied(config, json({ op: "add", path: "/machine/x", value: 1 }), json({ op: "remove", path: "/machine/x" })),
    ).toBe(`${machine}${network}  type: worker\n`);
    expect(
      applied(
        config,
        json({ op: "remove", path: "/machine/certSANs" }),
        "machine: {type: controlplane}\n",
        json({ op: "remove", path: "/machine/network" }),
      ),
    ).toBe('cluster: null\nmachine:\n  certSANs: []\n  token: ""\n  type: controlplane\nversion: ""\n');
  });
});

describe("an operation of a JSON patch is refused", () => {
  const prefix = "failure applying rfc6902 patches to talos machine config: ";
  const noIndex = (op: string, path: string, step: string) =>
    `error in ${op} for path: '${path}': Unable to access invalid index: ${step}: invalid index referenced`;
  test.each<[object, string]>([
    [{ op: "add", path: "/machine/certSANs/3", value: "t" }, noIndex("add", "/machine/certSANs/3", "3")],
    [{ op: "add", path: "/machine/certSANs/-4", value: "t" }, noIndex("add", "/machine/certSANs/-4", "-4")],
    [{ op: "add", path: "/machine/certSANs/x", value: "t" }, noIndex("add", "/machine/certSANs/x", "x")],
    [{ op: "add", path: "/machine/certSANs/1x", value: "t" }, noIndex("add", "/machine/certSANs/1x", "1x")],
    [{ op: "add", path: "/machine/certSANs/x1", value: "t" }, noIndex("add", "/machine/certSANs/x1", "x1")],
    [{ op: "add", path: "/machine/certSANs/1.5", value: "t" }, noIndex("add", "/machine/certSANs/1.5", "1.5")],
    [
      { op: "add", path: "/cluster/id", value: "t" },
      'add operation does not apply: doc is missing path: "/cluster/id": missing value',
    ],
    [
      { op: "add", path: "/machine/type/x", value: "t" },
      'add operation does not apply: doc is missing path: "/machine/type/x": missing value',
    ],
    [{ op: "add", path: "/machine/token" }, "add operation for /machine/token has no value"],
    [{ op: "remove", path: "/machine/certSANs/2" }, noIndex("remove", "/machine/certSANs/2", "2")],
    [{ op: "remove", path: "/machine/certSANs/-3" }, noIndex("remove", "/machine/certSANs/-3", "-3")],
    [
      { op: "remove", path: "/machine/token" },
      "error in remove for path: '/machine/token': Unable to remove nonexistent key: token: missing value",
    ],
    [
      { op: "remove", path: "/cluster/id" },
      'remove operation does not apply: doc is missing path: "/cluster/id": missing value',
    ],
    [{ op: "remove" }, "error in remove for path: '': Unable to remove nonexistent key: : missing value"],
    [
      { op: "replace", path: "/machine/certSANs/2", value: "t" },
      "replace operation does not apply: doc is missing key: /machine/certSANs/2: missing value",
    ],
    [
      { op: "replace", path: "/cluster/id", value: "t" },
      "replace operation does not apply: doc is missing path: /cluster/id: missing value",
    ],
    [{ op: "replace", path: "/machine/type" }, "replace operation for /machine/type has no value"],
    [
      { op: "move", from: "/machine/token", path: "/machine/type" },
      "error in move for path: 'token': Unable to remove nonexistent key: token: missing value",
    ],
    [{ op: "move", from: "/machine/certSANs/2", path: "/machine/type" }, noIndex("move", "2", "2")],
    [
      { op: "move", path: "/machine/type" },
      "move operation failed to decode from: operation, missing from field: missing value",
    ],
    [
      { op: "copy", path: "/machine/type" },
      "copy operation failed to decode from: operation, missing from field: missing value",
    ],
    [
      { op: "copy", from: 1, path: "/machine/type" },
      "copy operation failed to decode from: operation, missing from field: missing value",
    ],
    [
      { op: "copy", from: "/machine/token", path: "/machine/type" },
      "copy operation does not apply: doc is missing path: /machine/token: missing value",
    ],
    [{ op: "test", path: "/machine/type", value: "x" }, "testing value /machine/type failed: test failed"],
    [{ op: "test", path: "", value: { machine: {} } }, "testing value  failed: test failed"],
    [{ op: "test", path: "/machine/type" }, "test operation for /machine/type has no value"],
    [
      { op: "test", path: "/machine/token", value: "x" },
      "test operation does not apply: doc is missing path: /machine/token: missing value",
    ],
    [{ op: "nothing", path: "/machine/type" }, "Unexpected kind: nothing"],
    [{ path: "/machine/type" }, "Unexpected kind: "],
    [{ op: 1, path: "/machine/type" }, "Unexpected kind: "],
    [
      { op: "add", path: "machine", value: {} },
      'add operation does not apply: doc is missing path: "machine": missing value',
    ],
    [
      { op: "copy", from: "machine", path: "/x" },
      'copy operation does not apply: doc is missing path: "machine": missing value',
    ],
  ])("%j", (operation, message) => {
    expect(() => applied(config, json(operation))).toThrow(
      expect.objectContaining({ code: "invalid-input", message: `${prefix}${message}` }),
    );
  });

  test.each([
    ["a list of something else", config, "- 1\n", "expected a YAML document at line 1"],
    [
      "no config",
      "",
      json({ op: "add", path: "/a", value: {} }),
      "JSON6902 patches are not supported for multi-document machine configuration",
    ],
    [
      "two documents",
      "machine: {type: worker}\n---\napiVersion: v1alpha1\nkind: HostnameConfig\nhostname: x\n",
      json({ op: "remove", path: "/machine" }),
      "JSON6902 patches are not supported for multi-document machine configuration",
    ],
    ["a text", "just text\n", json({ op: "add", path: "", value: {} }), "talos machine config is not a yaml document"],
  ])("on %s", (_, text, patch, message) => {
    expect(() => applied(text, patch)).toThrow(expect.objectContaining({ code: "invalid-input", message }));
  });
});
