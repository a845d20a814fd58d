// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { configChange, diffConfigs, generateMachineConfig, MachineConfig } from "../../../talos/config/index.ts";
import { clusterOf, secrets } from "./golden-secrets.ts";

const desired = generateMachineConfig(clusterOf("v1.13", { kubernetesVersion: "1.34.0" }), secrets, { type: "worker" });

describe("a machine config", () => {
  const config = new MachineConfig(
    "machine:\n  type: worker\n  certSANs: [a, b]\n  sysctls: {}\n---\nkind: LinkConfig\nname: eth0\nmtu: 9000\n",
  );

  test.each<[string, unknown]>([
    ["machine.type", "worker"],
    ["machine.type.deeper", undefined],
    ["machine.certSANs", ["a", "b"]],
    ["LinkConfig/eth0:mtu", 9000],
    ["LinkConfig/eth1:mtu", undefined],
    ["HostnameConfig:hostname", undefined],
  ])("has its values at paths: %s", (path, value) => {
    expect(config.value(path)).toEqual(value);
  });

  test("has texts and lists of texts, and nothing in their place where there are none", () => {
    expect([config.textAt("machine.type"), config.textAt("machine.sysctls")]).toEqual(["worker", undefined]);
    expect([config.textsAt("machine.certSANs"), config.textsAt("machine.type")]).toEqual([["a", "b"], []]);
  });

  test("keeps every byte but those of the texts that are exchanged", () => {
    const text = "# why\nmachine: { type: 'worker' } # here\n---\nkind: LinkConfig\nname: eth0\nalias:   x\n";
    const changed = new MachineConfig(text).withTexts(
      new Map([
        ["machine.type", "controlplane"],
        ["LinkConfig/eth0:alias", "y"],
        ["machine.token", "nowhere to put it"],
      ]),
    );
    expect(changed.text).toBe(text.replace("worker", "controlplane").replace("x\n", "y\n"));
    expect(changed.value("machine.type")).toBe("controlplane");
  });

  test("that is no YAML has no documents and says why", () => {
    const broken = new MachineConfig("machine: [", "active config");
    expect(broken.documents.size).toBe(0);
    expect(broken.value("machine.type")).toBeUndefined();
    expect(broken.problem?.message).toMatch(/^active config:1:\d+: /);
    expect(config.problem).toBeUndefined();
  });
});

describe("the difference of configs", () => {
  test.each([
    [
      "an edited value",
      desired.replace("type: worker", "type: worker\n    sysctls: { a.b: '1' }"),
      ["machine.sysctls"],
    ],
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
    ["what is no YAML", "machine: [", ["the whole config"]],
  ])("%s in a machine's config is told by its place", (_, active, expected) => {
    const found = diffConfigs(new MachineConfig(active), new MachineConfig(desired));
    expect(found.map(({ document, path }) => (document === "v1alpha1" ? path : document))).toEqual(expected);
  });

  test("of one that cannot be read is the whole, and may need a reboot", () => {
    const change = configChange(new MachineConfig("machine: ["), new MachineConfig(desired));
    expect(change).toMatchObject({ places: [{ title: "the whole config" }], reboot: true });
  });
});
