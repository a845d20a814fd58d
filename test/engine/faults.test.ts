// SPDX-License-Identifier: Apache-2.0
import { existsSync, readdirSync, readlinkSync } from "node:fs";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type ClusterEvent, deleteNodes, previewCluster } from "../../engine/index.ts";
import { defaultPolicy } from "../../engine/policy.ts";
import type { Fault } from "../../simulator/control/index.ts";
import { testSecrets } from "./fixture.ts";
import { type SimulatedLab, simulatedLab } from "./simulated-cluster.ts";

const names = ["cp-1", "w-1"];
const openSockets = () =>
  readdirSync("/proc/self/fd").filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith("socket:");
    } catch {
      return false; // The one that the folder itself was read with.
    }
  }).length;
const soon = (milliseconds: number) => ({ until: Date.now() + milliseconds });

describe("trouble with machines, over real sockets", () => {
  let lab: SimulatedLab;
  const idOf = async (name: string) =>
    (await lab.simulator.listMachines()).find((machine) => machine.name === name)?.id ?? "";
  const trouble = async (name: string, ...faults: Fault[]) => lab.simulator.setFaults(await idOf(name), faults);
  beforeAll(async () => {
    lab = await simulatedLab("faults");
    // The daemon ends with its last machine; this one keeps it.
    await lab.create("keeper");
  });
  beforeEach(async () => {
    for (const name of names) await lab.create(name);
  });
  afterEach(async () => {
    for (const { id, name } of await lab.simulator.listMachines()) {
      await lab.simulator.setFaults(id, []);
      if (name !== "keeper") await lab.simulator.deleteMachine(id);
      else await lab.simulator.setPower(id, true);
    }
  });
  afterAll(() => lab.end());

  test.each<[string, string, () => Fault]>([
    ["refuses connections for a while", "cp-1", () => ({ kind: "refuse", ...soon(700) })],
    ["resets connections for a while", "w-1", () => ({ kind: "reset", ...soon(700) })],
    ["goes silent for a while", "cp-1", () => ({ kind: "half-open", ...soon(700) })],
    ["answers slowly", "cp-1", () => ({ kind: "delay", milliseconds: 60 })],
    ["trickles its answers", "w-1", () => ({ kind: "trickle", milliseconds: 5, ...soon(2000) })],
    [
      "is not ready to be bootstrapped yet",
      "cp-1",
      () => ({
        kind: "fail",
        method: "Bootstrap",
        code: "FailedPrecondition",
        message: "bootstrap is not available yet",
        times: 3,
      }),
    ],
    [
      "loses the answer to its config",
      "w-1",
      () => ({
        kind: "fail",
        method: "ApplyConfiguration",
        code: "Unavailable",
        message: "error reading from server: EOF",
        times: 1,
      }),
    ],
  ])("that passes: a machine that %s", async (_name, machine, fault) => {
    await trouble(machine, fault());
    const desired = await lab.desired(names);
    await lab.apply({ ...desired, endpoint: `https://${desired.machines[0]?.address}:6443` });
  });

  test("that is none: a machine that reaches no time server, as in a closed network, is told with a warning", async () => {
    const desired = await lab.desired(names);
    const endpoint = `https://${desired.machines[0]?.address}:6443`;
    await lab.apply({ ...desired, endpoint });
    const message = 'error querying NTP server "time.cloudflare.com": connection refused';
    await trouble("w-1", { kind: "fail", method: "Time", code: "Unknown", message });
    const patches = { all: ["machine: {sysctls: {vm.nr_hugepages: '8'}}"] };
    const warnings: string[] = [];
    const events = (event: ClusterEvent) => event.type === "warning" && warnings.push(event.message);
    await lab.apply({ ...(await lab.desired(names, { patches })), endpoint }, { events });
    expect(warnings).toContainEqual(expect.stringContaining("the clock of w-1 cannot be compared with ours"));
  });

  test("that is none: the control plane that answers for the shared address is known by it", async () => {
    const [first] = (await lab.desired(names)).machines;
    const vip = first?.address.replace(/\d+$/, "250") ?? "";
    const patch = `apiVersion: v1alpha1\nkind: Layer2VIPConfig\nname: ${vip}\nlink: eth0\n`;
    const desired = await lab.desired(names, { patches: { controlPlane: [patch] } });
    const wished = { ...desired, endpoint: `https://${first?.address}:6443` };
    await lab.apply(wished);
    const { machines } = await lab.observe(wished);
    expect(machines.get("cp-1")?.state).toMatchObject({ sharedAddress: vip });
    expect(machines.get("w-1")?.state).not.toHaveProperty("sharedAddress");
  });

  test.each<[string, Fault, RegExp]>([
    [
      "rejects its config",
      { kind: "reject-config", message: "unknown keys found during decoding" },
      /unknown keys found during decoding/,
    ],
    ["shows a stranger's certificate", { kind: "wrong-certificate" }, /another cluster/],
    ["refuses connections for good", { kind: "refuse" }, /cp-1: not reachable/],
  ])("that stays: a machine that %s is named with the reason", async (_name, fault, message) => {
    await trouble("cp-1", fault);
    const desired = await lab.desired(names);
    const failed = lab.apply(desired, { timeouts: { reachable: 1500, step: 3000, health: 3000 } });
    await expect(failed).rejects.toMatchObject({ name: "TalosError", message: expect.stringMatching(message) });
  });

  test.each<[string, Fault, RegExp]>([
    [
      "shows an expired certificate",
      { kind: "expired-certificate" },
      /w-1: its certificate is valid from .*: its clock is at least \d+ \w+ behind ours/,
    ],
    [
      "is hours ahead",
      { kind: "clock-skew", milliseconds: 3 * 3_600_000 },
      /its clock is at least .* ahead of ours|the clock of w-1 is \d+ s ahead of ours/,
    ],
    ["is minutes behind", { kind: "clock-skew", milliseconds: -300_000 }, /the clock of w-1 is \d+ s behind ours/],
  ])("that stays: a machine that %s is told as such, before anything is changed", async (_name, fault, message) => {
    const desired = await lab.desired(names);
    const endpoint = `https://${desired.machines[0]?.address}:6443`;
    await lab.apply({ ...desired, endpoint });
    await trouble("w-1", fault);
    const patches = { all: ["machine: {sysctls: {vm.nr_hugepages: '7'}}"] };
    const events: string[] = [];
    const changed = { ...(await lab.desired(names, { patches })), endpoint };
    const failed = lab.apply(changed, { events: ({ type }) => events.push(type) });
    await expect(failed).rejects.toMatchObject({
      code: "failed-precondition",
      message: expect.stringMatching(message),
      hint: expect.stringContaining("machine.time.servers"),
    });
    expect(events).not.toContain("step-started");
  });

  test("that stays: a machine that never comes back from its reboot is named", async () => {
    const desired = await lab.desired(names);
    const reachable = { ...desired, endpoint: `https://${desired.machines[0]?.address}:6443` };
    await lab.apply(reachable);
    await trouble("w-1", { kind: "never-back" });
    const patch = "machine: {files: [{content: x, path: /var/x, op: create, permissions: 0o600}]}";
    const changed = await lab.desired(names, { patches: { worker: [patch] } });
    const failed = lab.apply({ ...changed, endpoint: reachable.endpoint }, { timeouts: { step: 4000, health: 3000 } });
    await expect(failed).rejects.toMatchObject({
      node: "w-1",
      message: expect.stringMatching(/rebooting; not reachable: /),
    });
  });

  test("that stays: a new Talos that does not boot is told, and the old one runs on", async () => {
    const old = await lab.create("cp-1");
    await lab.simulator.deleteMachine(old.id);
    await lab.create("cp-1", "v1.12.11");
    const before = await lab.desired(["cp-1"], { talos: "v1.12.11", kubernetesVersion: "1.35.4" });
    const endpoint = `https://${before.machines[0]?.address}:6443`;
    await lab.apply({ ...before, endpoint });
    await trouble("cp-1", { kind: "bad-boot" });
    const after = await lab.desired(["cp-1"], { talos: "v1.13.9", kubernetesVersion: "1.35.4" });
    await expect(lab.apply({ ...after, endpoint })).rejects.toMatchObject({
      code: "failed-precondition",
      message: expect.stringMatching(/came back with Talos v1\.12\.11 instead of v1\.13\.9/),
    });
    await lab.destroy({ ...before, endpoint });
  });

  test("that stays: where etcd cannot start, the error has the service's own words", async () => {
    const message = "Failed to run pre stage: failed to pull image: not found";
    // What the service waits for may be a disk.
    const volume = { kind: "volume-fails", volume: "EPHEMERAL", message: "no disk matches the selector" } as const;
    await trouble("cp-1", { kind: "service-fails", service: "etcd", message }, volume);
    const desired = await lab.desired(["cp-1"]);
    const wished = { ...desired, endpoint: `https://${desired.machines[0]?.address}:6443` };
    const errors = `volume EPHEMERAL: no disk matches the selector; service etcd: ${message}`;
    await expect(lab.apply(wished, { timeouts: { step: 4000, reachable: 60_000 } })).rejects.toMatchObject({
      node: "cp-1",
      message: expect.stringContaining(`waiting for etcd to start; ${errors}`),
    });
    await trouble("cp-1");
    await lab.apply(wished);
  });

  test("that stays: a new API server that never becomes ready goes to one control plane only, and can be rolled back", async () => {
    const component = "kube-apiserver";
    for (const name of ["cp-2", "cp-3"]) await lab.create(name);
    const planes = ["cp-1", "cp-2", "cp-3"];
    const wished = async (kubernetesVersion: string) => {
      const desired = await lab.desired(planes, { kubernetesVersion });
      return { ...desired, endpoint: `https://${desired.machines[1]?.address}:6443` };
    };
    await lab.apply(await wished("1.36.1"));
    for (const name of planes) await trouble(name, { kind: "component-not-ready", component, version: "1.36.3" });
    const after = await wished("1.36.3");
    for (let run = 0; run < 2; run++) {
      const failed = lab.apply(after, { timeouts: { step: 4000, reachable: 60_000 } });
      await expect(failed).rejects.toThrow(/kube-apiserver 1\.36\.3 to (become ready|start; 1\.36\.1 runs now)/);
      const { machines } = await lab.observe(after);
      const newer = planes.filter((name) => {
        const state = machines.get(name)?.state;
        return state?.kind === "configured" && state.config?.text.includes(`${component}:v1.36.3`);
      });
      expect(newer).toEqual(["cp-1"]);
    }
    const { steps: back } = await lab.apply(await wished("1.36.1"));
    expect(back.map(({ sentence }) => sentence)).toContain("roll back kube-apiserver on cp-1 from 1.36.3 to 1.36.1");
  });

  test("that is none: static pods that take long to be replaced are waited for, one after the other", async () => {
    const milliseconds = 500;
    const wished = async (kubernetesVersion: string) => {
      const desired = await lab.desired(names, { kubernetesVersion });
      return { ...desired, endpoint: `https://${desired.machines[0]?.address}:6443` };
    };
    await lab.apply(await wished("1.36.1"));
    await trouble("cp-1", { kind: "slow-static-pods", milliseconds });
    const seen: ClusterEvent[] = [];
    await lab.apply(await wished("1.36.3"), { events: (event) => seen.push(event) });
    const step = (component: string) => {
      const own = seen.filter((event) => event.step?.id.includes(component));
      const at = (type: string) => own.find((event) => event.type === type)?.at.getTime() ?? Number.NaN;
      return { begun: at("step-started"), ended: at("step-finished") };
    };
    const steps = ["kube-apiserver", "kube-controller-manager", "kube-scheduler"].map(step);
    for (const { begun, ended } of steps) expect(ended - begun).toBeGreaterThanOrEqual(milliseconds);
    for (const [index, { begun }] of steps.slice(1).entries())
      expect(begun).toBeGreaterThanOrEqual(steps[index]?.ended ?? Number.NaN);
  });

  test("that is left: a dead node that is not in the file holds no health check up, and is named where it holds up an upgrade", async () => {
    await lab.create("w-2");
    const wished = async (kubernetesVersion: string, machines: readonly string[]) => {
      const desired = await lab.desired(machines, { kubernetesVersion });
      return { ...desired, endpoint: `https://${desired.machines[0]?.address}:6443` };
    };
    await lab.apply(await wished("1.36.1", [...names, "w-2"]));
    await lab.simulator.setPower(await idOf("w-2"), false);
    const before = await wished("1.36.1", names);
    const nodeOf = async (name: string) => {
      const { kubernetes } = await lab.observe(before);
      return kubernetes.kind === "reachable" ? kubernetes.nodes.find((node) => node.name === name) : undefined;
    };
    await expect.poll(async () => (await nodeOf("w-2"))?.ready, { timeout: 10_000 }).toBe(false);
    const warnings: string[] = [];
    const events = ({ type, message }: ClusterEvent) => type === "warning" && warnings.push(message);
    await lab.apply(before, { events });
    expect(warnings).toEqual(["w-2 is a Kubernetes node without a machine in the file, and not ready"]);
    const after = await wished("1.36.3", names);
    await expect(lab.apply(after, { timeouts: { step: 6000 } })).rejects.toThrow(
      /kube-proxy: 1 of 2 pods are new; w-2: not ready and not in the file/,
    );
    const { lockFile } = lab;
    await deleteNodes({ desired: after, secrets: testSecrets(), policy: defaultPolicy, lockFile }, ["w-2"]);
    const { steps } = await lab.apply(after);
    expect(steps.map(({ id }) => id)).toEqual([]);
  });

  test.skipIf(!existsSync("/proc/self/fd"))(
    "ten minutes of looks at faulty machines leave no socket behind",
    async () => {
      const desired = await lab.desired(names);
      const reachable = { ...desired, endpoint: `https://${desired.machines[0]?.address}:6443` };
      await lab.apply(reachable);
      const options = { desired: reachable, secrets: testSecrets(), policy: defaultPolicy };
      const look = () => previewCluster(options).catch(() => undefined);
      await look();
      const before = openSockets();
      const faults: readonly Fault[] = [
        { kind: "wrong-certificate" },
        { kind: "expired-certificate" },
        { kind: "reset" },
      ];
      for (const fault of faults) {
        for (const name of names) await trouble(name, fault);
        // The page looks every five seconds.
        for (let count = 0; count < 120 / faults.length; count += 1) await look();
      }
      // Nobody answers, and nobody waits for it: the page was closed.
      for (const name of names) await trouble(name, { kind: "half-open" });
      for (let count = 0; count < 5; count += 1)
        await previewCluster({ ...options, signal: AbortSignal.timeout(50) }).catch(() => undefined);
      await expect.poll(openSockets, { timeout: 5000 }).toBeLessThanOrEqual(before);
    },
  );

  test("a power cut in the middle of a bring-up is only a pause", async () => {
    const desired = await lab.desired(names);
    const reachable = { ...desired, endpoint: `https://${desired.machines[0]?.address}:6443` };
    await trouble("cp-1", { kind: "crash", method: "Bootstrap", when: "after", times: 1 });
    const run = lab.apply(reachable);
    await expect
      .poll(async () => (await lab.simulator.getMachine(await idOf("cp-1")))?.stage, { timeout: 10_000 })
      .toMatch(/off|down/);
    await lab.simulator.setPower(await idOf("cp-1"), true);
    await run;
  });
});
