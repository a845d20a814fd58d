// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { activeDifferences } from "../../engine/index.ts";
import { generateMachineConfig } from "../../talos/config/index.ts";
import { clusterOf, secrets } from "../talos/config/golden-secrets.ts";

const desired = generateMachineConfig(clusterOf("v1.13", { kubernetesVersion: "1.34.0" }), secrets, { type: "worker" });

test.each([
  ["an edited value", desired.replace("type: worker", "type: worker\n    sysctls: { a.b: '1' }"), ["machine.sysctls"]],
  [
    "a kind of document that a newer Talos has",
    `${desired}---\napiVersion: v1alpha1\nkind: QuantumConfig\nname: q.0\nspin: up\n`,
    ["QuantumConfig/q.0"],
  ],
  [
    "a field that a newer Talos has",
    desired.replace("type: worker", "type: worker\n    quantum: { spin: up }"),
    ["machine.quantum"],
  ],
])("%s in a machine's config is told by its place", (_, active, expected) => {
  const found = activeDifferences(active, desired);
  expect(found.map(({ document, path }) => (document === "v1alpha1" ? path : document))).toEqual(expected);
});
