// SPDX-License-Identifier: Apache-2.0
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addressesOf, Cidr, type Environment, EnvironmentError, parseEnvironment } from "../../../model/index.ts";

type Libvirt = Extract<Environment, { kind: "libvirt" }>;
const parse = (text: string) =>
  parseEnvironment("talos", (file) => (file.endsWith("talos.yaml") ? text : undefined)) as Libvirt;
const summary = (text: string) => addressesOf(parse(text)).map(({ name, address, mac }) => `${name} ${address} ${mac}`);

describe("addresses of virtual machines", () => {
  it("are those that people know, by default: one control plane and two workers", () => {
    expect(summary("infrastructure: { kind: libvirt, trustOnFirstUse: true }\ncontrolPlane: {}\n")).toEqual([
      "talos-cp-1 10.0.0.70 52:54:00:c1:00:01",
      "talos-w-1 10.0.0.80 52:54:00:c2:00:01",
      "talos-w-2 10.0.0.81 52:54:00:c2:00:02",
    ]);
  });

  it("begin where the network and the pool say", () => {
    expect(
      summary(`infrastructure: { kind: libvirt, trustOnFirstUse: true, network: { cidr: 192.168.8.0/22, controlPlaneOffset: 10, workerOffset: 300 } }
controlPlane: { count: 3 }
workers: [{ name: a, count: 1 }, { name: b, count: 1, addressOffset: 20 }]
`),
    ).toEqual([
      "talos-cp-1 192.168.8.10 52:54:00:c1:00:01",
      "talos-cp-2 192.168.8.11 52:54:00:c1:00:02",
      "talos-cp-3 192.168.8.12 52:54:00:c1:00:03",
      "talos-a-1 192.168.9.44 52:54:00:c2:00:01",
      "talos-b-1 192.168.8.20 52:54:00:c2:fe:e9",
    ]);
  });

  it("are never shared and always inside the network, or the environment is refused", () => {
    const pool = fc.record({ count: fc.integer({ min: 0, max: 40 }), offset: fc.integer({ min: 1, max: 300 }) });
    fc.assert(
      fc.property(fc.integer({ min: 20, max: 28 }), pool, pool, (prefix, first, second) => {
        const text = `infrastructure: { kind: libvirt, trustOnFirstUse: true, network: { cidr: 10.1.0.0/${prefix}, controlPlaneOffset: 5, workerOffset: ${first.offset} } }
controlPlane: { count: 3 }
workers: [{ name: a, count: ${first.count} }, { name: b, count: ${second.count}, addressOffset: ${second.offset} }]
`;
        try {
          const machines = addressesOf(parse(text));
          const addresses = machines.map((machine) => machine.address ?? "none");
          expect(new Set(addresses).size).toBe(machines.length);
          expect(new Set(machines.map((machine) => machine.mac)).size).toBe(machines.length);
          const network = Cidr.parse(`10.1.0.0/${prefix}`);
          expect(addresses.filter((address) => network.offsetOf(address) === undefined)).toEqual([]);
        } catch (error) {
          expect(error).toBeInstanceOf(EnvironmentError);
        }
      }),
      { numRuns: 200 },
    );
  });

  it("of a pool do not move when another pool grows", () => {
    const text = (count: number) => `infrastructure: { kind: libvirt, trustOnFirstUse: true }
controlPlane: { count: 1 }
workers: [{ name: a, count: ${count} }, { name: b, count: 2, addressOffset: 150 }]
`;
    const ofPoolB = (count: number) => summary(text(count)).filter((line) => line.includes("-b-"));
    expect(ofPoolB(1)).toEqual(ofPoolB(50));
  });
});

describe("warnings", () => {
  it("say that an even number of control planes is unwise, without refusing it", () => {
    expect(warnings("infrastructure: { kind: simulated }\ncontrolPlane: { count: 2 }\n")).toEqual([
      "controlPlane.count: 2",
    ]);
  });

  const warnings = (text: string) => parse(text).warnings.map(({ path, found }) => `${path}: ${found}`);

  it("say that a Talos release is newer than all that is known, and not for a new patch release", () => {
    const text = (talos: string) =>
      `cluster: { talosVersion: ${talos} }\ninfrastructure: { kind: simulated }\ncontrolPlane: { count: 1 }\n`;
    expect(warnings(text("v1.15.0-alpha.2"))).toEqual(["cluster.talosVersion: v1.15.0-alpha.2"]);
    expect(warnings(text("v1.14.99"))).toEqual([]);
  });

  it("are given below Talos's minimum for the role", () => {
    expect(
      warnings(`infrastructure: { kind: libvirt, trustOnFirstUse: true }
controlPlane: { cpu: 1, memory: 1GiB, disk: 5GiB }
workers: [{ cpu: 1, memory: 512MiB }]
`),
    ).toEqual([
      "controlPlane.cpu: 1",
      "controlPlane.memory: 1GiB",
      "controlPlane.disk: 5GiB",
      "workers[0].memory: 512MiB",
    ]);
  });

  it("are given for several control planes without a shared address, and not with one", () => {
    const text = (network: string) =>
      `infrastructure: { kind: libvirt, trustOnFirstUse: true, network: { ${network} } }\ncontrolPlane: { count: 3 }\n`;
    expect(warnings(text(""))).toEqual(["controlPlane.count: 3 control planes without a VIP or an endpoint"]);
    expect(warnings(text("vip: 10.0.0.100"))).toEqual([]);
  });
});

describe("Cidr", () => {
  it.each(["10.0.0.0", "10.0.0.1/24", "10.0.0.0/33", "10.0.0/24", "a/8", "10.0.0.0/8/8", "256.0.0.0/8", "::/0", ""])(
    "is not made from %j",
    (text) => expect(Cidr.tryParse(text)).toBeUndefined(),
  );

  it("counts hosts as people do, without the network's own and the broadcast address", () => {
    const cidr = Cidr.parse("10.0.0.0/29");
    expect([0, 1, 6, 7, -1].map((offset) => cidr.host(offset))).toEqual([
      undefined,
      "10.0.0.1",
      "10.0.0.6",
      undefined,
      undefined,
    ]);
  });

  it("finds back the offset of every host", () => {
    fc.assert(
      fc.property(fc.integer({ min: 8, max: 30 }), fc.nat(), (prefix, seed) => {
        const cidr = Cidr.parse(`10.0.0.0/${prefix}`);
        const offset = 1 + (seed % (cidr.size - 2));
        expect(cidr.offsetOf(cidr.host(offset) ?? "")).toBe(offset);
      }),
    );
  });
});
