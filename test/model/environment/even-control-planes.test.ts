// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { parseEnvironment } from "../../../model/index.ts";

const listed = (count: number) =>
  Array.from({ length: count }, (_, index) => `m${index}: { address: 10.0.0.${index + 2}, role: controlplane }`).join();

/** The same count in a file of each form: pools, and machines one by one. */
const files = {
  pools: (count: number) => `infrastructure: { kind: simulated }\ncontrolPlane: { count: ${count} }\n`,
  list: (count: number) =>
    `cluster: { endpoint: "https://10.0.0.2:6443" }\ninfrastructure: { kind: metal, trustOnFirstUse: true, machines: { ${listed(count)} } }\n`,
} as const;

test.each(["pools", "list"] as const)("an even number of control planes is warned of in a file with a %s", (form) => {
  const warnings = (count: number) => {
    const read = (file: string) => (file === "environments/lab.yaml" ? files[form](count) : undefined);
    return parseEnvironment("lab", read).warnings.filter(({ expected }) => expected === "an odd number");
  };
  expect([1, 2, 3, 4].map((count) => warnings(count).length)).toEqual([0, 1, 0, 1]);
  expect(warnings(4)[0]?.hint).toBe("With 4 control planes etcd survives no more failures than with 3.");
});
