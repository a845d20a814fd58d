// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { addressesOf, firstEnvironment, parseEnvironment, sharedWithNeighbours } from "../../../model/index.ts";

const parsed = (name: string, text: string) =>
  parseEnvironment(name, (path) => (path === `environments/${name}.yaml` ? text : undefined));
const libvirt = (name: string, network = "{}", more = "") =>
  parsed(
    name,
    `infrastructure: { kind: libvirt, trustOnFirstUse: true, network: ${network}${more} }\ncontrolPlane: { count: 1 }\nworkers: []\n`,
  );
const metal = (name: string, address: string) =>
  parsed(
    name,
    `infrastructure: { kind: metal, trustOnFirstUse: true, machines: { ${name}-1: { address: ${address}, role: controlplane } } }\n`,
  );

describe("environments of one project", () => {
  const lab = libvirt("lab");
  const mac = "the MAC address 52:54:00:c1:00:01 on br0 of qemu:///system (lab-cp-1 and other-cp-1)";
  const address = "the address 10.0.0.70 on br0 of qemu:///system (lab-cp-1 and other-cp-1)";

  test.each([
    ["on one bridge", libvirt("other"), [`lab and other both have ${mac}, ${address}`]],
    [
      "on one bridge, with other addresses",
      libvirt("other", "{ controlPlaneOffset: 90 }"),
      [`lab and other both have ${mac}`],
    ],
    [
      "on one bridge, with other MACs",
      libvirt("other", '{ macPrefix: "52:54:01" }'),
      [`lab and other both have ${address}`],
    ],
    [
      "with a VIP that is a machine's address",
      libvirt("other", '{ macPrefix: "52:54:01", controlPlaneOffset: 90, vip: 10.0.0.70 }'),
      ["lab and other both have the address 10.0.0.70 on br0 of qemu:///system (lab-cp-1 and the VIP)"],
    ],
    ["that differ", libvirt("other", '{ macPrefix: "52:54:01", controlPlaneOffset: 90 }'), []],
    ["on other bridges", libvirt("other", "{ bridge: br1 }"), []],
    ["with networks of their own", libvirt("other", "{ mode: nat }"), []],
    ["on other hosts", libvirt("other", "{}", ', uri: "qemu+ssh://root@other/system"'), []],
  ])("%s share: %#", (_, other, shared) => expect(sharedWithNeighbours(lab, [lab, other])).toEqual(shared));

  test("of metal share addresses", () => {
    expect(sharedWithNeighbours(metal("a", "192.0.2.1"), [metal("b", "192.0.2.1")])).toEqual([
      "a and b both have the address 192.0.2.1 (a-1 and b-1)",
    ]);
    expect(sharedWithNeighbours(metal("a", "192.0.2.1"), [metal("b", "192.0.2.2")])).toEqual([]);
  });

  test("that init makes have MAC addresses of their own; a file that sets none keeps the ones it had", () => {
    const macs = ["lab", "other"].map((name) => {
      const text = firstEnvironment({ name, kind: "libvirt", controlPlanes: 1, workers: 1 });
      const environment = parsed(name, text);
      return environment.kind === "libvirt" ? addressesOf(environment).map((machine) => machine.mac) : [];
    });
    expect(new Set(macs.flat()).size).toBe(4);
    for (const text of macs.flat()) expect(text).toMatch(/^52(:[0-9a-f]{2}){2}:c[12]:00:01$/);
    expect(lab.kind === "libvirt" && addressesOf(lab).map((machine) => machine.mac)).toEqual(["52:54:00:c1:00:01"]);
  });

  test.each(["52:54", "53:54:00", "52:54:0G"])("take no MAC prefix such as %s", (prefix) => {
    expect(() => libvirt("lab", `{ macPrefix: "${prefix}" }`)).toThrow("three bytes of a MAC address");
  });
});
