// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { defaultPolicy, desiredCluster, type MachineState, type ObservedCluster, plan } from "../../engine/index.ts";
import { configHeldBack } from "../../engine/plan/next-config.ts";
import { MachineConfig } from "../../talos/config/index.ts";
import { TalosVersion } from "../../talos/version/index.ts";
import { testSecrets } from "./fixture.ts";

const golden = (name: string) =>
  new MachineConfig(readFileSync(join(import.meta.dirname, "../golden/inputs", name), "utf8"));

function cluster(patches: readonly string[], talos = "v1.13.9", kubernetesVersion = "1.35.4") {
  return desiredCluster(
    {
      name: "c",
      endpoint: "https://10.0.0.1:6443",
      talosVersion: TalosVersion.parse(talos),
      contract: TalosVersion.parse(talos).contract,
      kubernetesVersion,
      machines: [
        { name: "cp-1", role: "controlplane", address: "10.0.0.1", patches },
        { name: "w-1", role: "worker", address: "10.0.0.2" },
      ],
    },
    testSecrets(),
  );
}

/** A healthy cluster of two that runs these configs. */
function runningWith(configs: ReadonlyMap<string, MachineConfig>, talosVersion: string): ObservedCluster {
  const state = (name: string): MachineState => ({
    kind: "configured",
    stage: "running",
    ready: true,
    unmet: [],
    talosVersion,
    bootId: "1",
    config: configs.get(name) ?? new MachineConfig(""),
    ...(name === "w-1"
      ? {}
      : {
          etcd: {
            state: "running",
            healthy: true,
            memberId: "a",
            leaderId: "a",
            members: [{ id: "a", hostname: "cp-1", peerUrls: [], learner: false }],
          },
        }),
  });
  const names = [["cp-1", "controlplane"] as const, ["w-1", "worker"] as const];
  return {
    machines: new Map(names.map(([name, role]) => [name, { name, role, address: name, state: state(name) }])),
    kubernetes: {
      kind: "reachable",
      nodes: names.map(([name]) => ({
        name,
        ready: true,
        unschedulable: false,
        cordonedByUs: false,
        controlPlane: name === "cp-1",
        addresses: [],
        kubeletVersion: "v1.35.4",
      })),
    },
  };
}

const configsOf = (desired: ReturnType<typeof cluster>) =>
  new Map(desired.machines.map(({ name, config }) => [name, config]));

describe("a change of a real config", () => {
  const before = cluster([]);
  const effect = (patches: readonly string[], talos?: string) => {
    const after = cluster(patches, talos);
    const old = talos === undefined ? before : cluster([], talos);
    const steps = plan(after, runningWith(configsOf(old), old.talosVersion.toString()), defaultPolicy);
    return steps.flatMap((step) => (step.kind === "apply-config" ? [`${step.machine} ${step.effect}`] : []));
  };

  test.each([
    ["nothing", "machine: {}", []],
    ["sysctls", "machine: {sysctls: {a: b}}", ["cp-1 no-reboot"]],
    ["node labels", "machine: {nodeLabels: {a: b}}", ["cp-1 no-reboot"]],
    ["the API server", "cluster: {apiServer: {extraArgs: {v: '3'}}}", ["cp-1 no-reboot"]],
    [
      "another document",
      "apiVersion: v1alpha1\nkind: TrustedRootsConfig\nname: x\ncertificates: abc",
      ["cp-1 no-reboot"],
    ],
    ["files", "machine: {files: [{content: x, permissions: 0o600, path: /var/x, op: create}]}", ["cp-1 reboot"]],
    ["udev rules", "machine: {udev: {rules: [x]}}", ["cp-1 reboot"]],
    ["a feature that is read at boot", "machine: {features: {diskQuotaSupport: false}}", ["cp-1 reboot"]],
  ])("in %s is told apart by whether it needs a reboot", (_name, patch, expected) => {
    expect(effect([patch])).toEqual(expected);
  });

  test("needs no reboot from Talos 1.14 on", () => {
    expect(effect(["machine: {udev: {rules: [x]}}"], "v1.14.0-rc.1")).toEqual(["cp-1 no-reboot"]);
  });

  test("is none when only the text differs", () => {
    const configs = new Map(
      [...configsOf(before)].map(([name, { text }]) => [name, new MachineConfig(`# a comment\n${text}`)]),
    );
    expect(plan(before, runningWith(configs, "v1.13.9"), defaultPolicy)).toEqual([]);
  });

  test("of the Kubernetes version is not a change of the config but an upgrade, whatever the contract", () => {
    for (const talos of ["v1.12.11", "v1.13.9", "v1.14.0-rc.1"]) {
      const [old, next] = [cluster([], talos, "1.34.1"), cluster([], talos, "1.35.4")];
      const steps = plan(next, runningWith(configsOf(old), talos), defaultPolicy);
      expect([...new Set(steps.map(({ kind }) => kind))], talos).toEqual([
        "pull-images",
        "upgrade-kubernetes",
        "sync-manifests",
      ]);
      expect(
        steps.map(({ id }) => id),
        talos,
      ).toEqual([
        "pull-images/cp-1",
        "pull-images/w-1",
        "upgrade-kube-apiserver/cp-1",
        "upgrade-kube-controller-manager/cp-1",
        "upgrade-kube-scheduler/cp-1",
        "upgrade-kube-proxy/cp-1",
        "upgrade-kubelet/cp-1",
        "upgrade-kubelet/w-1",
        "sync-manifests/cp-1",
      ]);
    }
  });

  test("of form alone, from Talos 1.11 to 1.12, costs no reboot of its own", () => {
    const [old, next] = [cluster([], "v1.11.6", "1.34.1"), cluster([], "v1.12.11", "1.34.1")];
    const upgraded = runningWith(configsOf(old), "v1.12.11");
    const steps = plan(next, upgraded, defaultPolicy).filter((step) => step.kind === "apply-config");
    expect(steps).toMatchObject([
      { machine: "cp-1", effect: "no-reboot" },
      { machine: "w-1", effect: "no-reboot" },
    ]);
    const sent = new Map(
      next.machines.map(({ name, config }) => [
        name,
        configHeldBack(config, configsOf(old).get(name) ?? new MachineConfig("")),
      ]),
    );
    expect(sent.get("cp-1")?.text).toContain("stableHostname: true");
    expect(plan(next, runningWith(sent, "v1.12.11"), defaultPolicy)).toEqual([]);
    const [cold] = cluster(["machine: {udev: {rules: [x]}}"], "v1.12.11", "1.34.1").machines;
    const [warm] = sent.values();
    if (cold === undefined || warm === undefined) throw new Error("no machine");
    expect(configHeldBack(cold.config, warm).text).not.toContain("stableHostname: true");
  });

  test("is found between configs that talosctl wrote", () => {
    const configs = new Map([
      ["cp-1", golden("cp-v1.13.yaml")],
      ["w-1", golden("worker-v1.13.yaml")],
    ]);
    const steps = plan(before, runningWith(configs, "v1.13.9"), defaultPolicy);
    expect(steps.some(({ kind }) => kind === "apply-config")).toBe(true);
  });
});
