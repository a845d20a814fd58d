// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { bootstrapTarget, type ClusterSpec, desiredCluster, Rendering } from "../../engine/index.ts";
import { machineFacts, readMachineFacts } from "../../talos/config/index.ts";
import { Contract, TalosVersion } from "../../talos/version/index.ts";
import { testSecrets } from "./fixture.ts";

const spec: ClusterSpec = {
  name: "c",
  endpoint: "https://10.0.0.1:6443",
  talosVersion: TalosVersion.parse("v1.13.9"),
  contract: Contract.parse("v1.13"),
  kubernetesVersion: "v1.36.3",
  machines: [
    { name: "w-1", role: "worker", address: "10.0.0.9" },
    { name: "cp-2", role: "controlplane", address: "10.0.0.2" },
    { name: "cp-1", role: "controlplane", address: "10.0.0.1", nodeLabels: { zone: "a" } },
  ],
};

describe("a desired cluster", () => {
  test("has its control planes first, each with its own config, host name and installer", () => {
    const desired = desiredCluster(spec, testSecrets());
    expect(desired.machines.map(({ name }) => name)).toEqual(["cp-1", "cp-2", "w-1"]);
    expect(bootstrapTarget(desired)).toBe("cp-1");
    expect(desired.kubernetesVersion).toBe("1.36.3");
    expect(desired.machines[0]).toMatchObject({
      installImage: "ghcr.io/siderolabs/installer:v1.13.9",
      installDisk: "/dev/sda",
    });
    const facts = readMachineFacts(desired.machines[0]?.config.text ?? "");
    expect(facts).toMatchObject({ hostname: "cp-1", type: "controlplane", nodeLabels: { zone: "a" } });
  });

  test("gives patches for all, for the role and for the machine the word in this order", () => {
    const label = (value: string) => `machine: {nodeLabels: {from: ${value}}}`;
    const patched = (patches: ClusterSpec["patches"], own?: readonly string[]) => {
      const machines = spec.machines.map((machine) => (own === undefined ? machine : { ...machine, patches: own }));
      const desired = desiredCluster(
        { ...spec, machines, ...(patches === undefined ? {} : { patches }) },
        testSecrets(),
      );
      return desired.machines.map(({ config }) => machineFacts(config).nodeLabels.from);
    };
    expect(patched({ all: [label("all")] })).toEqual(["all", "all", "all"]);
    expect(patched({ all: [label("all")], worker: [label("worker")] })).toEqual(["all", "all", "worker"]);
    expect(patched({ controlPlane: [label("role")] }, [label("own")])).toEqual(["own", "own", "own"]);
  });

  test("is the same for the same spec and secrets", () => {
    expect(desiredCluster(spec, testSecrets())).toEqual(desiredCluster(spec, testSecrets()));
  });

  test("is rendered machine by machine, each when it is asked for and once", () => {
    const faulty = { name: "cp-2", role: "controlplane", address: "10.0.0.2", patches: ["machine: []"] } as const;
    const machines = spec.machines.map((machine) => (machine.name === faulty.name ? faulty : machine));
    const rendering = new Rendering({ ...spec, machines }, testSecrets());
    const [first] = rendering.machines();
    expect(first?.name).toBe("cp-1");
    const [again] = rendering.machines();
    expect(again).toBe(first);
    expect(() => rendering.whole()).toThrow(/cannot construct !!seq/);
    expect(() => [...rendering.machines()]).toThrow(/cannot construct !!seq/);
  });

  test.each([
    ["no control plane", { machines: spec.machines.slice(0, 1) }, /at least one machine with role controlplane/],
    [
      "a name twice",
      { machines: [...spec.machines, { name: "w-1", role: "worker", address: "10.0.0.8" }] },
      /two machines have the name "w-1"/,
    ],
    [
      "an address twice",
      { leaving: [{ name: "x", role: "worker", address: "10.0.0.9" }] },
      /two machines have the address "10\.0\.0\.9"/,
    ],
    [
      "another host name by a patch",
      { patches: { worker: ["apiVersion: v1alpha1\nkind: HostnameConfig\nauto: off\nhostname: other"] } },
      /machine "w-1": a patch sets the host name other/,
    ],
  ] as [string, Partial<ClusterSpec>, RegExp][])("is refused with %s", (_name, change, message) => {
    expect(() => desiredCluster({ ...spec, ...change }, testSecrets())).toThrow(message);
  });
});
