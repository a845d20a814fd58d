// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { machinesOf, parseEnvironment } from "../../model/index.ts";
import { environmentSpec } from "../../workspace/cluster-spec.ts";

function specOf(text: string) {
  const environment = parseEnvironment("tiny", (file) => (file === "environments/tiny.yaml" ? text : undefined));
  const addresses = new Map(machinesOf(environment).map(({ name }, i) => [name, { address: `127.9.9.${i + 2}` }]));
  return environmentSpec(environment, addresses);
}

const simulated = "infrastructure: { kind: simulated }\n";

test.each([
  ["none: control planes run pods", "workers: []", true],
  ["some: control planes are kept free", "workers: [{ count: 1 }]", false],
  ["none, but asked to keep free", "workers: []\ncluster: { allowSchedulingOnControlPlanes: false }", false],
  ["some, but asked to run pods", "workers: [{ count: 1 }]\ncluster: { allowSchedulingOnControlPlanes: true }", true],
])("with workers %s", (_, text, expected) => {
  const { allowSchedulingOnControlPlanes } = specOf(`${simulated}controlPlane: { count: 1 }\n${text}\n`);
  expect(allowSchedulingOnControlPlanes).toBe(expected);
});

test("the endpoint is the first control plane unless the file names another", () => {
  const file = `${simulated}controlPlane: { count: 1 }\nworkers: []\n`;
  expect(specOf(file).endpoint).toBe("https://127.9.9.2:6443");
  expect(specOf(`${file}cluster: { endpoint: "https://k8s.example:6443" }\n`).endpoint).toBe(
    "https://k8s.example:6443",
  );
});

test("the endpoint of a machine with an IPv6 address is a URL", () => {
  const environment = parseEnvironment("tiny", (file) =>
    file === "environments/tiny.yaml"
      ? "infrastructure: { kind: metal, machines: { a: { address: 'fd00::1', role: controlplane, disk: /dev/sda } }, trustOnFirstUse: true }\n"
      : undefined,
  );
  expect(environmentSpec(environment, new Map([["a", { address: "fd00::1" }]])).endpoint).toBe(
    "https://[fd00::1]:6443",
  );
});

test("what the file trusts reaches every work of the engine: deploy, restore, repair", () => {
  const metal = (more: string) =>
    `infrastructure: { kind: metal, machines: { a: { address: 10.0.0.1, role: controlplane, disk: /dev/sda } }, ${more} }\n`;
  expect(specOf(metal("trustOnFirstUse: true")).trustOnFirstUse).toBe(true);
  expect(specOf(`${simulated}controlPlane: {}\n`).trustOnFirstUse).toBe(false);
});

test("labels, taints and patches of a pool reach its machines, before the machine's own", () => {
  const { machines } = specOf(
    `${simulated}controlPlane: { count: 1 }
workers: [{ count: 1, labels: { tier: front }, patches: ['machine: {sysctls: {a.pool: "1"}}'] }]
cluster: { patches: { machines: { tiny-w-1: ['machine: {sysctls: {a.own: "1"}}'] } } }
`,
  );
  expect(machines.map(({ patches }) => patches)).toEqual([
    [],
    [expect.stringContaining("tier: front"), 'machine: {sysctls: {a.pool: "1"}}', 'machine: {sysctls: {a.own: "1"}}'],
  ]);
});

test("what is added to the image is in the installer", () => {
  const file = `${simulated}controlPlane: { count: 1 }\nworkers: []\n`;
  expect(specOf(`${file}cluster: { schematic: { extensions: [siderolabs/zfs] } }\n`).installImage).toMatch(
    /^factory\.talos\.dev\/metal-installer\/[0-9a-f]{64}:/,
  );
});
