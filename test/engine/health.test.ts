// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { type CheckResult, checkHealth, type Machines } from "../../engine/index.ts";
import { defaultPolicy } from "../../engine/policy.ts";
import { lab, testSecrets, wish } from "./fixture.ts";

/** As written by `talosctl health`, but for the one about the way from kube-proxy to the API. */
const names = [
  "etcd to be healthy",
  "etcd members to be consistent across nodes",
  "etcd members to be control plane nodes",
  "apid to be ready",
  "all nodes memory sizes",
  "all nodes disk sizes",
  "no diagnostics",
  "kubelet to be healthy",
  "all nodes to finish boot sequence",
  "all k8s nodes to report",
  "all control plane static pods to be running",
  "all control plane components to be ready",
  "all k8s nodes to report ready",
  "kube-proxy to report ready",
  "kube-proxy to follow the Kubernetes API",
  "coredns to report ready",
  "all k8s nodes to report schedulable",
];

describe("the health of a cluster", () => {
  test("is the checks of talosctl health, by the same names and in the same order, and one more", async () => {
    const desired = wish();
    const { world, timing, apply } = lab(desired);
    await apply(desired);
    const report = await checkHealth({
      desired,
      secrets: testSecrets(),
      policy: defaultPolicy,
      machines: world.port(),
      timing,
    });
    expect(report.healthy).toBe(true);
    expect(report.checks.map(({ name }) => name)).toEqual(names);
    expect(report.checks.filter(({ state }) => state === "skipped").map(({ name }) => name)).toEqual([
      "coredns to report ready",
    ]);
  });

  test.each([3_600_000, -3_600_000])("takes as long as it may although the clock is set by %i ms", async (by) => {
    const desired = wish();
    const { world, timing, apply } = lab(desired);
    await apply(desired, { events: () => timing.setClock(by) });
    world.diagnostics.set("w-2", ["kubelet serving certificate is not signed"]);
    const options = {
      desired,
      secrets: testSecrets(),
      policy: defaultPolicy,
      machines: world.port(),
      timing,
      timeouts: { health: 60_000 },
    };
    const started = timing.elapsed();
    const report = await checkHealth({ ...options, onCheck: () => timing.setClock(by) });
    expect(report.healthy).toBe(false);
    expect(timing.elapsed() - started).toBe(60_000);
  });

  test("names the one condition that is not met after the timeout, with machine and reason", async () => {
    const desired = wish();
    const { world, timing, apply } = lab(desired);
    await apply(desired);
    world.diagnostics.set("w-2", ["kubelet serving certificate is not signed"]);
    const told: CheckResult[] = [];
    const started = timing.now();
    const report = await checkHealth({
      desired,
      secrets: testSecrets(),
      policy: defaultPolicy,
      machines: world.port(),
      timing,
      onCheck: (one) => told.push(one),
    });
    expect(timing.now() - started).toBeGreaterThanOrEqual(15 * 60_000);
    expect(report.healthy).toBe(false);
    expect(report.checks.at(-1)).toEqual({
      name: "no diagnostics",
      state: "failed",
      reason: "w-2: kubelet serving certificate is not signed",
    });
    expect(told.filter(({ state }) => state === "waiting").length).toBeGreaterThan(100);
  });

  test("keeps to its timeout and goes on telling when a machine takes a question and never answers", async () => {
    const desired = wish();
    const { world, timing, apply } = lab(desired);
    await apply(desired);
    const port = world.port();
    const silent: Machines = {
      ...port,
      health: (target, signal) => (target.name === "cp-2" ? new Promise(() => {}) : port.health(target, signal)),
    };
    const told: string[] = [];
    const started = timing.now();
    const report = await checkHealth({
      desired,
      secrets: testSecrets(),
      policy: defaultPolicy,
      machines: silent,
      timing,
      timeouts: { health: 60_000 },
      onCheck: ({ reason }) => told.push(`${Math.round((timing.now() - started) / 1000)}s ${reason ?? "begun"}`),
    });
    expect(report.checks).toEqual([{ name: "etcd to be healthy", state: "failed", reason: "cp-2: no answer yet" }]);
    expect(timing.now() - started).toBe(60_000);
    expect(told.slice(0, 3)).toEqual(["0s begun", "5s cp-2: no answer yet (5 s)", "10s cp-2: no answer yet (10 s)"]);
  });

  test("gives even the last look after the timeout a second, and not more", async () => {
    const desired = wish();
    const { world, timing, apply } = lab(desired);
    await apply(desired);
    const slow: Machines = { ...world.port(), inspect: () => new Promise(() => {}) };
    const started = timing.now();
    const report = await checkHealth({
      desired,
      secrets: testSecrets(),
      policy: defaultPolicy,
      machines: slow,
      timing,
      timeouts: { health: 10 },
    });
    expect(report.checks.at(-1)).toMatchObject({
      name: "etcd members to be consistent across nodes",
      reason: "cp-1, cp-2, cp-3, w-1, w-2: no answer yet",
    });
    expect(timing.now() - started).toBeLessThanOrEqual(1000);
  });

  test("can be looked at once, without waiting, and then tells all that is wrong", async () => {
    const desired = wish();
    const { world, timing, apply } = lab(desired);
    await apply(desired);
    world.lose("w-1");
    const report = await checkHealth({
      desired,
      secrets: testSecrets(),
      policy: defaultPolicy,
      machines: world.port(),
      timing,
      wait: false,
    });
    const failed = report.checks.filter(({ state }) => state === "failed").map(({ name }) => name);
    expect(failed).toContain("all nodes to finish boot sequence");
    expect(failed).toContain("all k8s nodes to report ready");
    expect(failed).not.toContain("etcd to be healthy");
  });

  test("is what one look finds as a whole: a condition that was lost during a later wait is waited for again", async () => {
    const desired = wish();
    const { world, timing, apply } = lab(desired);
    await apply(desired);
    const begun = timing.elapsed();
    // Ready at first, as a backup says of a node; then its kubelet begins, while a component is waited for.
    const between = (from: number, to: number) => timing.elapsed() - begun >= from && timing.elapsed() - begun < to;
    const port = world.port();
    const told: CheckResult[] = [];
    const report = await checkHealth({
      desired,
      secrets: testSecrets(),
      policy: defaultPolicy,
      timing,
      machines: {
        ...port,
        kubernetes: {
          ...port.kubernetes,
          observe: async () => {
            const seen = await port.kubernetes.observe();
            if (seen.kind === "unreachable" || !between(2000, 60_000)) return seen;
            return { ...seen, nodes: seen.nodes.map((node) => ({ ...node, ready: node.name !== "w-2" })) };
          },
          proxyFaults: async () => (between(0, 10_000) ? ["w-1: kube-proxy does not trust the Kubernetes API"] : []),
        },
      },
      onCheck: (one) => told.push(one),
    });
    expect(report.healthy).toBe(true);
    expect(timing.elapsed() - begun).toBeGreaterThanOrEqual(60_000);
    expect(told.filter(({ name }) => name === "etcd to be healthy").map(({ state }) => state)).toEqual([
      "waiting",
      "ok",
    ]);
    const nodes = told.filter(({ name }) => name === "all k8s nodes to report ready");
    expect(nodes.slice(0, 3)).toMatchObject([
      { state: "waiting" },
      { state: "ok" },
      { state: "waiting", reason: expect.stringMatching(/^w-2: is not ready/) },
    ]);
    expect(nodes.at(-1)).toMatchObject({ state: "ok" });
  });

  const kubeletAt = (state: string, since?: string) =>
    new Map([
      ["kubelet", { state, healthy: true, message: "", ...(since === undefined ? {} : { since: new Date(since) }) }],
    ]);

  test.each<[string, ReturnType<typeof kubeletAt>, string | undefined]>([
    [
      "that has not reported since it started",
      kubeletAt("Running", "2026-11-18T10:00:01.200Z"),
      "w-1: is not ready: its kubelet has not reported since it started",
    ],
    ["that does not run", kubeletAt("Waiting"), "w-1: is not ready: its kubelet is in state Waiting, not Running"],
    ["that reported in the second in which it started", kubeletAt("Running", "2026-11-18T10:00:00.900Z"), undefined],
  ])("takes no node for ready by the word of a kubelet %s", async (_case, services, reason) => {
    const desired = wish();
    const { world, timing, apply } = lab(desired);
    await apply(desired);
    const port = world.port();
    const reportedAt = new Date("2026-11-18T10:00:00Z");
    const { checks } = await checkHealth({
      desired,
      secrets: testSecrets(),
      policy: defaultPolicy,
      timing,
      machines: {
        ...port,
        health: async (target, signal) => {
          const health = await port.health(target, signal);
          return target.name === "w-1" ? { ...health, services } : health;
        },
        kubernetes: {
          ...port.kubernetes,
          observe: async () => {
            const seen = await port.kubernetes.observe();
            if (seen.kind === "unreachable") return seen;
            return { ...seen, nodes: seen.nodes.map((node) => ({ ...node, reportedAt })) };
          },
        },
      },
      wait: false,
    });
    expect(checks.find(({ name }) => name === "all k8s nodes to report ready")?.reason).toEqual(reason);
  });

  test("counts no pod as ready whose containers its machine does not run", async () => {
    const desired = wish();
    const { world, timing, apply } = lab(desired);
    await apply(desired);
    const port = world.port();
    const { checks } = await checkHealth({
      desired,
      secrets: testSecrets(),
      policy: defaultPolicy,
      timing,
      machines: {
        ...port,
        health: async (target, signal) => {
          const health = await port.health(target, signal);
          return target.name === "w-2" ? health : { ...health, containers: new Set([`runs-on-${target.name}`]) };
        },
        kubernetes: {
          ...port.kubernetes,
          workload: async (_kind, _name, { runs = () => true } = {}) => {
            const pods = [
              ["cp-1", "runs-on-cp-1"],
              ["w-1", "of-the-backup"],
              // A machine that does not tell what it runs.
              ["w-2", "of-the-backup"],
            ] as const;
            return { wanted: 3, updated: 3, ready: pods.filter(([node, id]) => runs(node, [id])).length };
          },
        },
      },
      wait: false,
    });
    expect(checks.find(({ name }) => name === "kube-proxy to report ready")?.reason).toBe("2 of 3 pods are ready");
  });

  test("leaves Kubernetes out where there is none", async () => {
    const desired = wish();
    const { world, timing, apply } = lab(desired);
    await apply(desired);
    const report = await checkHealth({
      desired,
      secrets: testSecrets(),
      machines: world.port(),
      timing,
      policy: { healthLevel: "talos" },
    });
    expect(report.checks.filter(({ state }) => state === "skipped").map(({ name }) => name)).toEqual(names.slice(9));
  });
});
