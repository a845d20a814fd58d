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
