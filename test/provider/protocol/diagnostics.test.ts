// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { path } from "../../../provider/framework/index.ts";
import { toWireDiagnostics } from "../../../provider/protocol/diagnostics.ts";

const finding = { severity: "warning", summary: "Perhaps a secret", detail: "It is stored." } as const;

// Terraform quotes the lines of an attribute that a diagnostic points at, and what its expressions come to.
test.each([
  ["a patch of a machine", path("machines").key("w-1").attribute("patches").index(0), 'machines["w-1"].patches[0]'],
  ["all machines", path("machines"), "machines"],
  ["a pool", path("scaling_pools").key("w"), 'scaling_pools["w"]'],
  ["a patch alone", path("patches").index(2), "patches[2]"],
  ["a config of cloud-init", path("machine_config").attribute("patches"), "machine_config.patches"],
])("%s is told in words, and never quoted by terraform", (_, at, words) => {
  expect(toWireDiagnostics([{ ...finding, path: at }])).toMatchObject([
    { summary: "Perhaps a secret", detail: `It is stored.\n\nAt: ${words}`, attribute: undefined },
  ]);
});

test("what cannot hold a patch is pointed at", () => {
  const [told] = toWireDiagnostics([{ ...finding, path: path("talos_version") }]);
  expect(told?.attribute?.steps).toHaveLength(1);
  expect(told?.detail).toBe("It is stored.");
});
