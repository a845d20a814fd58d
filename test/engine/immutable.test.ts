// SPDX-License-Identifier: Apache-2.0
// What cannot change in a running cluster, held against the configs that its machines run.

import { describe, expect, test } from "vitest";
import {
  applyCluster,
  type ClusterSpec,
  desiredCluster,
  type ObservedCluster,
  observe,
  preflight,
  previewCluster,
} from "../../engine/index.ts";
import { defaultPolicy } from "../../engine/policy.ts";
import { MachineConfig } from "../../talos/config/index.ts";
import { Contract, TalosVersion } from "../../talos/version/index.ts";
import { lab, testSecrets } from "./fixture.ts";

const kubernetesOf: Readonly<Record<string, string>> = { "v1.9.6": "1.32.5", "v1.12.4": "1.35.2" };

const spec = (more: Partial<ClusterSpec> = {}, talos = "v1.13.9"): ClusterSpec => ({
  name: "test",
  endpoint: "https://10.0.0.1:6443",
  talosVersion: TalosVersion.parse(talos),
  contract: TalosVersion.parse(talos).contract,
  kubernetesVersion: kubernetesOf[talos] ?? "1.36.3",
  machines: [
    { name: "cp-1", role: "controlplane", address: "10.0.0.1" },
    { name: "w-1", role: "worker", address: "10.0.0.2" },
    { name: "w-2", role: "worker", address: "10.0.0.3" },
  ],
  ...more,
});

const rendered = (more?: Partial<ClusterSpec>, talos?: string) => desiredCluster(spec(more, talos), testSecrets());

/** The cluster as it would be seen with these configs; undefined leaves a machine without one. */
function running(desired = rendered(), change: (config: string, name: string) => string = (config) => config) {
  const machines = desired.machines.map(({ name, role, address, config }) => ({
    name,
    role,
    address,
    state: {
      kind: "configured" as const,
      stage: "running" as const,
      ready: true,
      unmet: [],
      talosVersion: desired.talosVersion.toString(),
      config: new MachineConfig(change(config.text, name)),
      bootId: name,
    },
  }));
  const byName = new Map(machines.map((machine) => [machine.name, machine]));
  return { machines: byName, kubernetes: { kind: "unreachable", reason: "" } } satisfies ObservedCluster;
}

const refusals = (...args: Parameters<typeof preflight>) =>
  preflight(...args).flatMap(({ severity, message }) =>
    /cannot change/.test(message) ? [`${severity}: ${message}`] : [],
  );

const changes: readonly [string, Partial<ClusterSpec>, string][] = [
  [
    "name",
    { name: "other" },
    "the cluster's name cannot change in a running cluster: it is test and would become other",
  ],
  ["domain", { dnsDomain: "other.local" }, "it is cluster.local and would become other.local (cp-1, w-1, w-2)"],
  ["pod CIDRs", { podSubnets: ["10.200.0.0/16"] }, "it is 10.244.0.0/16 and would become 10.200.0.0/16"],
  ["a second pod CIDR", { podSubnets: ["10.244.0.0/16", "fd00::/56"] }, "would become 10.244.0.0/16, fd00::/56"],
  ["service CIDRs", { serviceSubnets: ["10.112.0.0/12"] }, "it is 10.96.0.0/12 and would become 10.112.0.0/12"],
];

describe.each(["v1.9.6", "v1.12.4", "v1.13.9", "v1.14.0"])("of a cluster of %s", (talos) => {
  test.each(changes)("its %s is refused to change", (_name, more, words) => {
    const found = refusals(rendered(more, talos), running(rendered({}, talos)));
    expect(found).toEqual([expect.stringContaining(words)]);
  });

  test("nothing is refused while it stays what it is, is new, or changes elsewhere", () => {
    expect(refusals(rendered({}, talos), running(rendered({}, talos)))).toEqual([]);
    expect(refusals(rendered({ cni: { name: "none" } }, talos), running(rendered({}, talos)))).toEqual([]);
    const none = { machines: new Map(), kubernetes: { kind: "unreachable", reason: "" } } as const;
    expect(refusals(rendered({ dnsDomain: "other.local" }, talos), none)).toEqual([]);
  });
});

const networkPatch = "cluster:\n  network:\n    serviceSubnets: [10.112.0.0/12]\n";

describe("a patch", () => {
  test.each<[string, Partial<ClusterSpec>, string]>([
    ["for every machine", { patches: { all: [networkPatch] } }, "(cp-1, w-1, w-2)"],
    ["for control planes", { patches: { controlPlane: [networkPatch] } }, "(cp-1)"],
    [
      "for one machine",
      {
        machines: [
          ...spec().machines.slice(0, 2),
          { name: "w-2", role: "worker", address: "10.0.0.3", patches: [networkPatch] },
        ],
      },
      "(w-2)",
    ],
  ])("%s that changes it is refused", (_name, more, machines) => {
    expect(refusals(rendered(more), running())).toEqual([expect.stringContaining(`10.112.0.0/12 ${machines}`)]);
  });

  test("that a cluster was created with is kept", () => {
    const patched = { patches: { all: [networkPatch] } };
    expect(refusals(rendered({ ...patched, dnsDomain: "cluster.local" }), running(rendered(patched)))).toEqual([]);
  });
});

describe("what a machine runs", () => {
  test("may be without the settings that Talos has by default, as an adopted one's", () => {
    const without = (config: string) =>
      config.replace(/^ {8}(dnsDomain|podSubnets|serviceSubnets):.*\n(?: {8,}- .*\n)*/gm, "");
    expect(without(rendered().machines[0]?.config.text ?? "")).not.toContain("podSubnets");
    expect(refusals(rendered(), running(rendered(), without))).toEqual([]);
    expect(refusals(rendered({ dnsDomain: "other.local" }), running(rendered(), without))).toHaveLength(1);
  });

  test("may be of another contract after a migration: the settings have moved to documents of their own", () => {
    const migrated = { previousContract: Contract.parse("v1.13") };
    expect(refusals(rendered(migrated, "v1.14.0"), running(rendered()))).toEqual([]);
    expect(refusals(rendered({ ...migrated, dnsDomain: "other.local" }, "v1.14.0"), running(rendered()))).toHaveLength(
      1,
    );
  });

  test("is of the contract that the cluster has, whatever Talos runs it", () => {
    expect(refusals(rendered({}, "v1.14.0"), running(rendered()))).toEqual([
      "error: the config contract cannot change in a running cluster: it is v1.13 or older and would become v1.14 or newer (cp-1, w-1, w-2)",
    ]);
    expect(refusals(rendered({ contract: Contract.parse("v1.13") }, "v1.14.0"), running(rendered()))).toEqual([]);
  });

  test("does not unlock a change for the others when one machine has it already", () => {
    const drifted = (config: string, name: string) =>
      name === "w-1" ? config.replace("10.96.0.0/12", "10.112.0.0/12") : config;
    const changed = rendered({ serviceSubnets: ["10.112.0.0/12"] });
    expect(refusals(changed, running(rendered(), drifted))).toHaveLength(1);
  });

  test("may have drifted on its own: it is brought back to what the others have", () => {
    const drifted = (config: string, name: string) =>
      name === "w-1" ? config.replace("10.96.0.0/12", "10.112.0.0/12") : config;
    expect(refusals(rendered(), running(rendered(), drifted))).toEqual([]);
  });
});

describe("the engine", () => {
  const trusted = { trustOnFirstUse: true };
  const wanted = { ...rendered(), ...trusted };
  const changed = { ...rendered({ serviceSubnets: ["10.112.0.0/12"] }), ...trusted };

  test("shows the refusal in a preview and changes no machine in an apply", async () => {
    const { world, timing } = lab(wanted);
    const options = { secrets: testSecrets(), policy: defaultPolicy, machines: world.port(), timing };
    await applyCluster({ ...options, desired: wanted });
    const { findings } = await previewCluster({ ...options, desired: changed });
    expect(findings).toMatchObject([{ severity: "error", message: expect.stringContaining("10.96.0.0/12 and would") }]);
    await expect(applyCluster({ ...options, desired: changed })).rejects.toThrow("the service CIDRs cannot change");
    const { machines } = await observe(wanted, { machines: world.port() });
    for (const { state } of machines.values()) {
      const config = state.kind === "configured" ? state.config : undefined;
      expect(config?.textsAt("cluster.network.serviceSubnets")).toEqual(["10.96.0.0/12"]);
    }
  });
});
