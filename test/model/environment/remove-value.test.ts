// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { migratedContract, parseEnvironment } from "../../../model/index.ts";

const rest = "infrastructure: { kind: simulated }\ncontrolPlane: {}\n";
const record = JSON.stringify({ v: 1, contract: "v1.14", machines: [] });

function cleared(text: string, recorded = record): string | undefined {
  const files: Readonly<Record<string, string>> = {
    "environments/lab.yaml": text,
    "state/lab.machines.json": recorded,
  };
  const read = (file: string) => files[file];
  return migratedContract(parseEnvironment("lab", read), read).get("environments/lab.yaml");
}

const contract = "talosVersion: v1.14.1, configContract: v1.14";

test.each([
  ["a line", `cluster:\n  talosVersion: v1.14.1\n  configContract: v1.14\n  previousContract: v1.13\n${rest}`],
  [
    "with its comment",
    `cluster:\n  previousContract: v1.13 # for now\n  configContract: v1.14\n  talosVersion: v1.14.1\n${rest}`,
  ],
  [
    "with its line end",
    `cluster:\r\n  configContract: v1.14\r\n  previousContract: v1.13\r\n  talosVersion: v1.14.1\r\n${rest}`,
  ],
])("previousContract is removed: %s", (_, text) => {
  expect(cleared(text)).toBe(text.replace(/ {2}previousContract[^\n]*\n/, ""));
});

test.each([
  [`cluster: { ${contract}, previousContract: v1.13 }\n${rest}`],
  [`cluster: { previousContract: v1.13, ${contract} }\n${rest}`],
])("also among others of one line: %j", (text) => {
  expect(cleared(text)).toBe(`cluster: { ${contract} }\n${rest}`);
});

test("it stays until the record has the new contract, and where there is none", () => {
  const text = `cluster: { ${contract}, previousContract: v1.13 }\n${rest}`;
  expect(cleared(text, record.replace("v1.14", "v1.13"))).toBeUndefined();
  expect(cleared(text, "")).toBeUndefined();
  expect(cleared(`cluster: { ${contract} }\n${rest}`)).toBeUndefined();
});
