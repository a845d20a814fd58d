// SPDX-License-Identifier: Apache-2.0
import { afterEach, describe, expect, test, vi } from "vitest";
import { Composer } from "yaml";
import { applyCluster, type ClusterEvent, destroyCluster, type Machines } from "../../engine/index.ts";
import { defaultPolicy } from "../../engine/policy.ts";
import { MachineConfig } from "../../talos/config/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { lab, testSecrets, wish } from "./fixture.ts";

const ids = (result: { steps: readonly { id: string }[] }) => result.steps.map(({ id }) => id);

describe("bringing a cluster up", () => {
  test("takes empty machines to a healthy cluster, and a second run finds nothing to do", async () => {
    const desired = wish();
    const { world, apply } = lab(desired);
    const first = await apply(desired);
    expect(ids(first).slice(0, 6)).toEqual([
      "apply-config/cp-1",
      "apply-config/cp-2",
      "apply-config/cp-3",
      "apply-config/w-1",
      "apply-config/w-2",
      "bootstrap-etcd/cp-1",
    ]);
    expect(first.kubeconfig).toBe("kubeconfig from cp-1");
    expect(world.bootstraps).toBe(1);
    expect(world.violations).toEqual([]);
    const second = await apply(desired);
    expect(ids(second)).toEqual([]);
  });

  test("tells each step's beginning and end, and what is waited for", async () => {
    const desired = wish({ controlPlanes: ["cp-1"], workers: [] });
    const events: ClusterEvent[] = [];
    await lab(desired).apply(desired, { events: (event) => events.push(event) });
    const told = events
      .filter(({ type }) => type !== "waiting")
      .map(({ type, step }) => `${type} ${step?.id ?? ""}`.trim());
    expect(told).toEqual([
      "observed",
      "planned",
      "step-started apply-config/cp-1",
      "step-finished apply-config/cp-1",
      "step-started bootstrap-etcd/cp-1",
      "step-finished bootstrap-etcd/cp-1",
      "step-started join-etcd/cp-1",
      "step-finished join-etcd/cp-1",
      "step-started join-kubernetes/cp-1",
      "step-finished join-kubernetes/cp-1",
      "observed",
      "healthy",
    ]);
    const reasons = events.filter(({ type }) => type === "waiting").map(({ message }) => message);
    expect(reasons).toContain("config applied, rebooting");
    expect(reasons).toContain("waiting for the node to register");
  });

  test("tells what the services of a machine report while it is waited for, and in the error", async () => {
    const desired = wish({ controlPlanes: ["cp-1"], workers: [] });
    const events: ClusterEvent[] = [];
    const { world, apply } = lab(desired);
    world.sickVersions.add("v1.13.9");
    world.serviceErrors.set("cp-1", [
      "service etcd: Failed to run pre stage",
      "service kubelet: Waiting for time sync",
    ]);
    const said =
      "waiting for the node to become ready; service etcd: Failed to run pre stage; service kubelet: Waiting for time sync";
    await expect(apply(desired, { events: (event) => events.push(event) })).rejects.toMatchObject({
      code: "deadline-exceeded",
      message: expect.stringContaining(said),
    });
    const reasons = events.filter(({ step }) => step?.id === "join-kubernetes/cp-1").map(({ message }) => message);
    // At first it is on its way like any other.
    const first = `${said} (6 s)`;
    expect(reasons).toEqual(expect.arrayContaining(["waiting for the node to become ready", first]));
    expect(reasons.indexOf("waiting for the node to become ready")).toBeLessThan(reasons.indexOf(first));
  });

  test.each(["cp-3", "w-2"])("fails with the machine and the reason when %s never answers", async (name) => {
    const desired = wish();
    const { world, apply } = lab(desired);
    world.lose(name);
    await expect(apply(desired)).rejects.toMatchObject({
      code: "deadline-exceeded",
      message: expect.stringContaining(
        `not done after 10 min: waiting for ${name} to boot; ${name}: not reachable: connection refused`,
      ),
    });
    // Without all control planes nothing is begun; workers may be late.
    expect(world.bootstraps).toBe(name === "cp-3" ? 0 : 1);
  });

  test("says of a machine that has never answered that it boots, and what the network says only when that takes long", async () => {
    const desired = wish();
    const { world, apply } = lab(desired);
    world.lose("cp-2");
    const waits: string[] = [];
    const events = ({ type, message }: ClusterEvent) => type === "waiting" && waits.push(message);
    await expect(apply(desired, { events })).rejects.toMatchObject({ code: "deadline-exceeded" });
    const early = waits.filter((line) => /\(\d+ s\)$/.test(line));
    expect(new Set(early.map((line) => line.replace(/ \(.*/, "")))).toEqual(new Set(["waiting for cp-2 to boot"]));
    expect(early.length).toBeGreaterThan(10);
    expect(waits.at(-1)).toMatch(/^waiting for cp-2 to boot; cp-2: not reachable: connection refused \(10 min\)$/);
  });

  test("says at once why a machine of the cluster is not reachable", async () => {
    const desired = wish();
    const { world, apply } = lab(desired);
    await apply(desired);
    world.lose("w-2");
    const waits: string[] = [];
    const events = ({ type, message }: ClusterEvent) => type === "waiting" && waits.push(message);
    await expect(apply(desired, { events })).rejects.toMatchObject({
      message: expect.stringContaining("not done after 10 min: w-2: not reachable: connection refused"),
    });
    expect(waits[0]).toBe("w-2: not reachable: connection refused");
  });

  test("does not wait for workers that need a control plane to get their certificates", async () => {
    const desired = wish();
    const { world, apply } = lab(desired);
    const port = world.port();
    const inspect: typeof port.inspect = async (target, signal) => {
      const state = await port.inspect(target, signal);
      const anyControlPlane = ["cp-1", "cp-2", "cp-3"].some((name) => world.state(name).kind === "configured");
      const silent = target.role === "worker" && state.kind === "configured" && !anyControlPlane;
      return silent ? { kind: "unreachable", reason: "no certificate yet" } : state;
    };
    // An earlier run was killed when it had got no further than the workers.
    for (const machine of desired.machines.filter(({ role }) => role === "worker"))
      await port.install(machine, machine.config);
    await apply(desired, { machines: { ...port, inspect } });
    expect(world.bootstraps).toBe(1);
  });

  test("does not start a new etcd for nodes that had one", async () => {
    const desired = wish();
    const { world, apply } = lab(desired);
    await apply(desired);
    for (const name of ["cp-1", "cp-2", "cp-3"]) world.replace(name);
    await expect(apply(desired)).rejects.toMatchObject({
      code: "failed-precondition",
      message: "all control planes are empty, but w-1, w-2 were nodes of this cluster: its etcd is lost",
    });
    expect(world.bootstraps).toBe(1);
  });

  test("stops at a signal and goes on from there", async () => {
    const desired = wish();
    const { world, apply } = lab(desired);
    const stop = new AbortController();
    const port = world.port();
    const failed: string[] = [];
    const stopped = apply(desired, {
      signal: stop.signal,
      machines: {
        ...port,
        inspect: async (target, signal) => {
          if (stop.signal.aborted) throw new TalosError("canceled", "10.0.0.2: Cancelled on client");
          return port.inspect(target, signal);
        },
      },
      events: ({ type, step, message }) => {
        if (type === "waiting" && step?.kind === "join-etcd") stop.abort();
        if (type === "step-failed") failed.push(message);
      },
    });
    const doing = /^stopped: wait for etcd on cp-2 \(.*etcd.*\)/;
    await expect(stopped).rejects.toMatchObject({ code: "canceled", message: expect.stringMatching(doing) });
    expect(failed).toContainEqual(expect.stringMatching(doing));
    expect(failed.filter((message) => !/^stopped: .* \(.*\)$/.test(message) || message.includes("Cancelled"))).toEqual(
      [],
    );
    const rest = await apply(desired);
    expect(ids(rest)).not.toContain("bootstrap-etcd/cp-1");
    expect(world.bootstraps).toBe(1);
  });

  test("tells what it waited for when it is stopped between two steps", async () => {
    const desired = wish();
    const { world, apply } = lab(desired);
    await apply(desired);
    world.lose("w-1");
    const stop = new AbortController();
    const warned: string[] = [];
    const stopped = apply(desired, {
      signal: stop.signal,
      events: ({ type, message }) => {
        if (type === "waiting") stop.abort();
        if (type === "warning") warned.push(message);
      },
    });
    await expect(stopped).rejects.toMatchObject({
      code: "canceled",
      message: expect.stringMatching(/^stopped: w-1: /),
    });
    expect(warned).toEqual([expect.stringMatching(/^stopped: w-1: /)]);
  });

  test("does not start a second etcd while a control plane cannot be asked", async () => {
    const desired = wish();
    const { world, apply } = lab(desired);
    await apply(desired);
    // All but one are replaced by empty machines, and the one that has the data is off.
    world.lose("cp-3");
    world.replace("cp-1");
    world.replace("cp-2");
    await expect(apply(desired)).rejects.toMatchObject({ code: "deadline-exceeded" });
    expect(world.bootstraps).toBe(1);
  });
});

describe("reading configs, which for a thousand machines takes longer than anything else,", () => {
  afterEach(() => void vi.restoreAllMocks());

  test("is done once for each worker by a bring-up, and once by an upgrade", async () => {
    const workers = Array.from({ length: 20 }, (_, index) => `w-${index + 1}`);
    const { world, apply } = lab(wish({ workers }));
    for (const machine of world.machines.values()) machine.version = "v1.12.11";
    const read = vi.spyOn(Composer.prototype, "compose");
    const readsOf = async (talos: string) => {
      read.mockClear();
      await apply(wish({ workers, talos, kubernetes: "1.35.4" }));
      return read.mock.calls.length;
    };
    // Those of control planes are read a few times.
    expect(await readsOf("v1.12.11")).toBeLessThan(2 * workers.length);
    expect(await readsOf("v1.13.9")).toBeLessThan(2 * workers.length);
  });
});

describe("a run that finds nothing to do", () => {
  afterEach(() => void vi.restoreAllMocks());

  test("reads the config of no worker: of a thousand machines that took longer than everything else", async () => {
    const { apply } = lab(wish());
    await apply(wish());
    const read = new Set<string>();
    const documents = Object.getOwnPropertyDescriptor(MachineConfig.prototype, "documents")?.get;
    vi.spyOn(MachineConfig.prototype, "documents", "get").mockImplementation(function (this: MachineConfig) {
      if (this.text.includes("type: worker")) read.add(this.text);
      return documents?.call(this);
    });
    expect(ids(await apply(wish()))).toEqual([]);
    expect([...read]).toEqual([]);
    await apply(wish({ sysctl: "2" }));
    expect([...read]).not.toEqual([]);
  });
});

describe("changing a cluster", () => {
  test("a change that takes effect at once reboots nobody", async () => {
    const before = wish();
    const { world, apply } = lab(before);
    await apply(before);
    world.log.length = 0;
    await apply(wish({ sysctl: "2" }));
    expect(world.log).toEqual(["cp-1", "cp-2", "cp-3", "w-1", "w-2"].map((name) => `config ${name} no-reboot`));
    expect(ids(await apply(wish({ sysctl: "2" })))).toEqual([]);
  });

  test("a machine is back from its reboot when its kubelet reports: until then Kubernetes calls its node ready as before", async () => {
    const before = wish({ workers: ["w-1"] });
    const { world, timing, apply } = lab(before);
    await apply(before);
    const port = world.port();
    const ago = new Date(timing.now() - 60_000);
    let since: number | undefined;
    let uncordoned: number | undefined;
    const machines: Machines = {
      ...port,
      health: async (target, signal) => {
        const health = await port.health(target, signal);
        if (target.name !== "w-1") return health;
        since ??= timing.now();
        const kubelet = { state: "Running", healthy: true, message: "", since: new Date(since) };
        return { ...health, services: new Map([["kubelet", kubelet]]) };
      },
      kubernetes: {
        ...port.kubernetes,
        observeNode: async (name) => {
          const seen = await port.kubernetes.observeNode(name);
          if (seen.kind === "unreachable" || seen.node === undefined) return seen;
          const reports = since !== undefined && timing.now() - since >= 40_000;
          return { ...seen, node: { ...seen.node, reportedAt: reports ? new Date(timing.now()) : ago } };
        },
        uncordon: async (name, signal) => {
          if (name === "w-1") uncordoned = timing.now();
          await port.kubernetes.uncordon(name, signal);
        },
      },
    };
    const waits: string[] = [];
    const events = ({ type, message }: ClusterEvent) => type === "waiting" && waits.push(message);
    await apply(wish({ workers: ["w-1"], file: "b" }), { machines, events });
    expect((uncordoned ?? 0) - (since ?? Number.POSITIVE_INFINITY)).toBeGreaterThanOrEqual(40_000);
    expect(waits).toContain("waiting for the node to become ready");
  });

  test("a change that needs reboots goes one machine at a time, drained before and uncordoned after", async () => {
    const before = wish();
    const { world, apply } = lab(before);
    await apply(before);
    world.log.length = 0;
    await apply(wish({ file: "b" }));
    const deeds = [...new Set(world.log)];
    expect(deeds).toEqual(
      ["cp-1", "cp-2", "cp-3", "w-1", "w-2"].flatMap((name) => [
        `drain ${name}`,
        `config ${name} reboot`,
        `uncordon ${name}`,
      ]),
    );
    expect(world.violations).toEqual([]);
  });

  test("a new Talos goes over the control planes first, one by one", async () => {
    const before = wish({ talos: "v1.12.11", kubernetes: "1.35.4" });
    const { world, apply } = lab(before);
    for (const machine of world.machines.values()) machine.version = "v1.12.11";
    await apply(before);
    const after = wish({ talos: "v1.13.9", kubernetes: "1.35.4" });
    await apply(after);
    expect(world.log.filter((line) => line.startsWith("upgrade"))).toEqual(
      ["cp-1", "cp-2", "cp-3", "w-1", "w-2"].map((name) => `upgrade ${name} v1.13.9`),
    );
    expect(world.violations).toEqual([]);
    expect(ids(await apply(after))).toEqual([]);
  });

  test("a Talos that does not boot is reported and the others are left alone", async () => {
    const before = wish({ talos: "v1.12.11", kubernetes: "1.35.4" });
    const { world, apply } = lab(before);
    for (const machine of world.machines.values()) machine.version = "v1.12.11";
    await apply(before);
    world.brokenImages.add("ghcr.io/siderolabs/installer:v1.13.9");
    await expect(apply(wish({ kubernetes: "1.35.4" }))).rejects.toMatchObject({
      code: "failed-precondition",
      message: expect.stringMatching(/cp-1 came back with Talos v1\.12\.11 instead of v1\.13\.9/),
    });
    expect(world.log.filter((line) => line.startsWith("upgrade"))).toEqual(["upgrade cp-1 v1.13.9"]);
  });

  test("a new Kubernetes goes component by component, the kubelets of the workers last", async () => {
    const before = wish({ kubernetes: "1.35.4" });
    const { world, apply } = lab(before);
    await apply(before);
    const result = await apply(wish({ kubernetes: "1.36.3" }));
    const on = (component: string, machines: readonly string[]) =>
      machines.map((name) => `upgrade-${component}/${name}`);
    const controlPlanes = ["cp-1", "cp-2", "cp-3"];
    expect(ids(result)).toEqual([
      ...[...controlPlanes, "w-1", "w-2"].map((name) => `pull-images/${name}`),
      ...on("kube-apiserver", controlPlanes),
      ...on("kube-controller-manager", controlPlanes),
      ...on("kube-scheduler", controlPlanes),
      ...on("kube-proxy", controlPlanes),
      ...on("kubelet", [...controlPlanes, "w-1", "w-2"]),
      "sync-manifests/cp-1",
    ]);
    expect(world.proxyVersion).toBe("1.36.3");
    expect(world.violations).toEqual([]);
    expect(ids(await apply(wish({ kubernetes: "1.36.3" })))).toEqual([]);
  });

  test("new control planes join one after another, new workers side by side", async () => {
    const before = wish({ controlPlanes: ["cp-1"], workers: ["w-1"] });
    const { world, apply } = lab(wish({ workers: ["w-1", "w-2", "w-3"] }));
    await apply(before);
    const result = await apply(wish({ workers: ["w-1", "w-2", "w-3"] }));
    const third = result.steps.find(({ id }) => id === "apply-config/cp-3");
    expect(third?.after).toEqual(["join-etcd/cp-2"]);
    expect(result.steps.find(({ id }) => id === "apply-config/w-3")?.after).toEqual([]);
    expect(world.bootstraps).toBe(1);
    expect(world.violations).toEqual([]);
  });

  test("a machine that leaves is drained, taken out of etcd, wiped and forgotten", async () => {
    const before = wish();
    const { world, apply } = lab(before);
    await apply(before);
    world.log.length = 0;
    await apply(wish({ controlPlanes: ["cp-2", "cp-3"], workers: ["w-1"], leaving: ["cp-1", "w-2"] }));
    expect([...new Set(world.log)]).toEqual([
      "forfeit cp-1",
      "drain cp-1",
      "leave cp-1",
      "reset cp-1",
      "delete node cp-1",
      "drain w-2",
      "reset w-2 gracefully",
      "delete node w-2",
    ]);
    expect(world.nodes().map(({ name }) => name)).toEqual(["cp-2", "cp-3", "w-1"]);
    expect(world.violations).toEqual([]);
  });

  test("three control planes may become one, but never none", async () => {
    const before = wish();
    const { world, apply } = lab(before);
    await apply(before);
    const single = wish({ controlPlanes: ["cp-3"], leaving: ["cp-1", "cp-2"] });
    await apply(single);
    expect(world.violations).toEqual([]);
    expect(world.nodes().map(({ name }) => name)).toEqual(["cp-3", "w-1", "w-2"]);
  });

  test("an empty machine under a known name takes the dead one's place", async () => {
    const desired = wish();
    const { world, apply } = lab(desired);
    await apply(desired);
    world.replace("cp-2");
    const result = await apply(desired);
    expect(ids(result)[0]).toMatch(/^remove-etcd-member\/cp-2\//);
    expect(ids(result)).toContain("delete-node/cp-2");
    expect(world.ghosts).toEqual([]);
    expect(world.bootstraps).toBe(1);
    expect(world.violations).toEqual([]);
    expect(ids(await apply(desired))).toEqual([]);
  });

  test("a leaving machine that is gone is taken out of etcd without it", async () => {
    const before = wish();
    const { world, apply } = lab(before);
    await apply(before);
    world.lose("cp-3");
    await apply(wish({ controlPlanes: ["cp-1", "cp-2"], leaving: ["cp-3"] }));
    expect(world.log.some((line) => line.startsWith("remove member"))).toBe(true);
    expect(world.nodes().map(({ name }) => name)).toEqual(["cp-1", "cp-2", "w-1", "w-2"]);
  });
});

describe("taking a cluster down", () => {
  test("wipes every machine and finds nothing to do afterwards", async () => {
    const desired = wish();
    const { world, apply, timing } = lab(desired);
    await apply(desired);
    world.destroying = true;
    const options = { desired, secrets: testSecrets(), policy: defaultPolicy, machines: world.port(), timing };
    const result = await destroyCluster(options);
    expect(ids(result)).toEqual(["cp-1", "cp-2", "cp-3", "w-1", "w-2"].map((name) => `reset/${name}`));
    expect([...world.machines.values()].every(({ config }) => config === undefined)).toBe(true);
    expect(ids(await destroyCluster(options))).toEqual([]);
  });
});

describe("a failure", () => {
  test("is told at once, while others still wait", async () => {
    const desired = wish();
    const { world, timing } = lab(desired);
    const port = world.port();
    const install: typeof port.install = async (target, config, signal) => {
      if (target.name === "cp-2") throw new TalosError("invalid-input", "cp-2: unknown keys found during decoding");
      return port.install(target, config, signal);
    };
    const failed: string[] = [];
    const started = timing.now();
    const run = applyCluster({
      desired,
      policy: defaultPolicy,
      secrets: testSecrets(),
      machines: { ...port, install },
      timing,
      events: ({ type, step, message }) => {
        if (type === "step-failed") failed.push(`${step?.id}: ${message}`);
      },
    });
    await expect(run).rejects.toMatchObject({
      code: "invalid-input",
      message: "cp-2: unknown keys found during decoding",
    });
    expect(timing.now() - started).toBeLessThan(5000);
    expect(failed[0]).toBe("apply-config/cp-2: cp-2: unknown keys found during decoding");
    expect(failed.slice(1).every((line) => line.endsWith("stopped, because another step failed"))).toBe(true);
    expect(world.bootstraps).toBe(0);
  });
});
