// SPDX-License-Identifier: Apache-2.0
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { Composer } from "yaml";
import {
  checkHealth,
  machineView,
  observe,
  previewCluster,
  restoreCluster,
  talosMachines,
} from "../../engine/index.ts";
import { defaultPolicy, type Policy } from "../../engine/policy.ts";
import { saveSnapshot } from "../support/save-snapshot.ts";
import { testSecrets } from "./fixture.ts";
import { type SimulatedLab, simulatedLab } from "./simulated-cluster.ts";

const ids = (result: { steps: readonly { id: string }[] }) => result.steps.map(({ id }) => id);
const kinds = (result: { steps: readonly { kind: string }[] }) => [...new Set(result.steps.map(({ kind }) => kind))];
const five = ["cp-1", "cp-2", "cp-3", "w-1", "w-2"];

describe("a cluster of simulated machines, over real sockets", () => {
  let lab: SimulatedLab;
  beforeAll(async () => {
    lab = await simulatedLab("engine");
    for (const name of five) await lab.create(name);
  });
  afterAll(() => lab.end());

  test("comes up from empty machines, and a second run finds nothing to do", async () => {
    const desired = await lab.desired(five);
    const first = await lab.apply(desired);
    expect(ids(first)).toContain("bootstrap-etcd/cp-1");
    expect(first.kubeconfig).toContain("admin@engine");
    expect((await lab.simulator.listMachines()).map(({ stage }) => stage)).toEqual(five.map(() => "running"));
    expect(ids(await lab.apply(desired))).toEqual([]);
  });

  test("is observed without reading the configs of its machines: each step asks for them many times", async () => {
    const desired = await lab.desired(five);
    const read = vi.spyOn(Composer.prototype, "compose");
    try {
      const { machines } = await lab.observe(desired);
      expect([...machines.values()].map(({ state }) => state.kind)).toEqual(five.map(() => "configured"));
      expect(read).not.toHaveBeenCalled();
    } finally {
      read.mockRestore();
    }
  });

  test("takes a config change without a reboot", async () => {
    const desired = await lab.desired(five, { patches: { all: ["machine: {sysctls: {vm.nr_hugepages: '2'}}"] } });
    const result = await lab.apply(desired);
    expect(kinds(result)).toEqual(["apply-config", "join-etcd", "join-kubernetes"]);
    expect(result.steps.every((step) => step.kind !== "apply-config" || step.effect === "no-reboot")).toBe(true);
    expect(ids(await lab.apply(desired))).toEqual([]);
  });

  test("takes a config change with reboots, one machine at a time", async () => {
    const patch = "machine: {files: [{content: hello, path: /var/etc/hello, op: create, permissions: 0o600}]}";
    const desired = await lab.desired(five, { patches: { all: [patch] } });
    const result = await lab.apply(desired);
    expect(kinds(result)).toEqual(["drain", "apply-config", "join-etcd", "join-kubernetes", "uncordon"]);
    expect(ids(await lab.apply(desired))).toEqual([]);
  });

  test("lets machines leave and others come", async () => {
    await lab.create("cp-4");
    await lab.create("w-3");
    const now = ["cp-2", "cp-3", "cp-4", "w-2", "w-3"];
    const desired = await lab.desired(now, { leaving: ["cp-1", "w-1"] });
    // The endpoint is the first control plane here, and it goes: the engine itself must not depend on it.
    const machines = { ...desired, endpoint: `https://${desired.machines[0]?.address}:6443` };
    await lab.apply(machines);
    const states = new Map((await lab.simulator.listMachines()).map(({ name, stage }) => [name, stage]));
    expect([states.get("cp-1"), states.get("w-1")]).toEqual(["maintenance", "maintenance"]);
    expect(now.map((name) => states.get(name))).toEqual(now.map(() => "running"));
    expect(ids(await lab.apply(machines))).toEqual([]);
  });

  test("puts an empty machine in the place of a dead one", async () => {
    const [dead] = (await lab.simulator.listMachines()).filter(({ name }) => name === "cp-3");
    await lab.simulator.deleteMachine(dead?.id ?? "");
    await lab.create("cp-3");
    const now = ["cp-2", "cp-3", "cp-4", "w-2", "w-3"];
    const desired = await lab.desired(now);
    const reachable = { ...desired, endpoint: `https://${desired.machines[0]?.address}:6443` };
    const result = await lab.apply(reachable);
    expect(ids(result)[0]).toMatch(/^remove-etcd-member\/cp-3\//);
    expect(ids(await lab.apply(reachable))).toEqual([]);
  });

  test("comes back from a snapshot after all control planes were lost", async () => {
    const now = ["cp-2", "cp-3", "cp-4", "w-2", "w-3"];
    const before = await lab.desired(now);
    const directory = await mkdtemp(join(tmpdir(), "talosmith-restore-"));
    try {
      const snapshot = join(directory, "etcd.db");
      const from = await saveSnapshot(before, testSecrets(), snapshot);
      const { observed } = await previewCluster({ desired: before, secrets: testSecrets(), policy: defaultPolicy });
      const source = before.machines.find(({ address }) => address === from);
      // The leader has enough to do.
      expect(source && machineView(source, observed).etcd).toBe("member");
      for (const { id, name } of await lab.simulator.listMachines()) {
        if (!now.includes(name) || !name.startsWith("cp")) continue;
        await lab.simulator.deleteMachine(id);
        await lab.create(name);
      }
      const desired = await lab.desired(now);
      const reachable = { ...desired, endpoint: `https://${desired.machines[0]?.address}:6443` };
      await expect(lab.apply(reachable)).rejects.toMatchObject({ code: "failed-precondition" });
      const timeouts = { step: 30_000, health: 30_000 };
      const unpinned = {
        ...reachable,
        machines: reachable.machines.map(({ fingerprint: _, ...machine }) => machine),
      };
      const restore = (trustOnFirstUse: boolean) =>
        restoreCluster({
          desired: { ...unpinned, trustOnFirstUse },
          secrets: testSecrets(),
          policy: defaultPolicy,
          snapshot,
          timeouts,
          lockFile: lab.lockFile,
        });
      await expect(restore(false)).rejects.toThrow("cp-2 is in maintenance mode and its fingerprint is not known");
      const result = await restore(true);
      expect(result.steps[0]?.sentence).toContain("trust on first use");
      expect(ids(result)).toContain("restore-etcd/cp-2");
      expect(ids(await lab.apply(reachable))).toEqual([]);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });

  test("is wiped as a whole, and then there is nothing to wipe", async () => {
    const desired = await lab.desired(["cp-2", "cp-3", "cp-4", "w-2", "w-3"]);
    expect((await lab.destroy(desired)).steps).toHaveLength(5);
    expect((await lab.simulator.listMachines()).map(({ stage }) => stage)).toEqual(new Array(7).fill("maintenance"));
    expect(await lab.destroy(desired)).toEqual({ steps: [], unreachable: [] });
  });
});

describe("upgrades of simulated machines, over real sockets", () => {
  let lab: SimulatedLab;
  const names = ["cp-1", "cp-2", "cp-3", "w-1"];
  beforeAll(async () => {
    lab = await simulatedLab("upgrades");
    for (const name of names) await lab.create(name, "v1.11.6");
    await lab.apply(await lab.desired(names, { talos: "v1.11.6", kubernetesVersion: "1.34.1" }));
  });
  afterAll(() => lab.end());

  test("Talos by the old way and by the new one, then Kubernetes", async () => {
    for (const talos of ["v1.12.11", "v1.13.9"]) {
      const desired = await lab.desired(names, { talos, kubernetesVersion: "1.34.1" });
      const result = await lab.apply(desired);
      expect(ids(result)).toContain("upgrade-talos/w-1");
      expect((await lab.simulator.listMachines()).map(({ talosVersion }) => talosVersion)).toEqual(
        names.map(() => talos),
      );
      expect(ids(await lab.apply(desired))).toEqual([]);
    }
    const desired = await lab.desired(names, { kubernetesVersion: "1.35.4" });
    const result = await lab.apply(desired);
    expect(kinds(result)).toEqual(["pull-images", "upgrade-kubernetes", "sync-manifests"]);
    expect(ids(await lab.apply(desired))).toEqual([]);
  });
});

describe("a simulated cluster without a network plugin, over real sockets", () => {
  let lab: SimulatedLab;
  const names = ["cp-1", "w-1"];
  const none = ["cluster: {network: {cni: {name: none}}}"];
  beforeAll(async () => {
    lab = await simulatedLab("bare");
    for (const name of names) await lab.create(name);
  });
  afterAll(() => lab.end());

  test("is up for whoever installs one as soon as its API answers", async () => {
    // As when the plugin comes later: the engine is not told that nodes stay unready.
    const desired = await lab.desired(names, { patches: { all: none } });
    const policy: Policy = { ...defaultPolicy, healthLevel: "api" };
    const result = await lab.apply(desired, { policy });
    expect(kinds(result)).toEqual(["apply-config", "bootstrap-etcd", "join-etcd"]);
    expect(ids(await lab.apply(desired, { policy }))).toEqual([]);
    const options = { desired, secrets: testSecrets(), policy, timeouts: { health: 1000 } };
    expect((await checkHealth(options)).checks.at(-1)).toMatchObject({
      name: "all k8s nodes to report ready",
      state: "failed",
    });
  });

  test("is healthy without it where that is wished", async () => {
    const desired = await lab.desired(names, { patches: { all: none } });
    expect(ids(await lab.apply({ ...desired, nodesBecomeReady: false }))).toEqual([]);
  });

  test("keeps the plugin that it has when the config asks for none any more", async () => {
    await lab.apply(await lab.desired(names));
    const desired = await lab.desired(names, { patches: { all: none } });
    expect(kinds(await lab.apply(desired))).toContain("apply-config");
    const { kubernetes } = await observe(desired, { machines: talosMachines({ desired, secrets: testSecrets() }) });
    expect(kubernetes).toMatchObject({ kind: "reachable", nodes: [{ ready: true }, { ready: true }] });
  });

  test("tells the same to who only looks, but for the boot that nobody will wait for", async () => {
    const desired = await lab.desired(names);
    const [changing, looking] = [false, true].map((onlyLook) =>
      talosMachines({ desired, secrets: testSecrets(), onlyLook }),
    );
    expect(desired.machines.map(({ role }) => role)).toEqual(["controlplane", "worker"]);
    for (const machine of desired.machines) {
      const [full, quick] = [await changing?.inspect(machine), await looking?.inspect(machine)];
      expect(full).toMatchObject({ kind: "configured", bootId: expect.stringMatching(/^[0-9a-f-]{36}\//) });
      const mark = (full as { bootId: string }).bootId.replace(/^[^/]*/, "");
      expect(quick).toEqual({ ...full, bootId: mark });
    }
    for (const machines of [changing, looking]) machines?.close();
  });
});
