// SPDX-License-Identifier: Apache-2.0
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { defaultPolicy, plan } from "../../engine/index.ts";
import { type Change, planWith, reviewPlan } from "../../review/index.ts";
import { refusalOf } from "../../watch/decide.ts";
import { type ClusterObservation, retryDelay, verdictOn, withJitter } from "../../watch/index.ts";
import { found } from "../engine/found.ts";
import { wish } from "../engine/wish.ts";
import { observedLab, stepFor, unreachable } from "./observations.ts";

const now = Date.parse("2026-11-16T12:00:00Z");
const work = { steps: [stepFor("w-1")] };
const gated = [
  stepFor("w-1", { kind: "gate", id: "gate/w-1" } as never),
  stepFor("w-1", { id: "drain/w-1", after: ["gate/w-1"] }),
  stepFor("w-1", { after: ["drain/w-1"] }),
];
const ending = [{ name: "kubeconfig", expiresAt: new Date("2026-12-01T00:00:00Z"), renewable: true }];

describe("the verdict on a look", () => {
  test.each<[string, ClusterObservation, { allowed?: boolean; rest?: number; planDue?: boolean }, object]>([
    ["nothing differs", observedLab(), {}, { kind: "nothing" }],
    ["nothing differs, and Terraform is to plan", observedLab(), { planDue: true }, { kind: "plan" }],
    ["Terraform may not repair", observedLab(), { planDue: true, allowed: false }, { kind: "nothing" }],
    ["Terraform is to plan around a gap", observedLab({ "cp-2": unreachable }), { planDue: true }, { kind: "nothing" }],
    ["Terraform's last plan has failed", observedLab(), { planDue: true, rest: 1 }, { kind: "nothing" }],
    ["something differs", observedLab({}, work), {}, { kind: "repair" }],
    ["a client file ends soon", observedLab({}, { certificates: ending }), {}, { kind: "repair" }],
    ["repairing is not allowed", observedLab({}, work), { allowed: false }, { kind: "report" }],
    [
      "its Terraform state is not in the project",
      observedLab({}, { ...work, obstacle: "a state elsewhere" }),
      {},
      { kind: "report", reason: "a state elsewhere" },
    ],
    ["data would be lost", observedLab({}, { steps: [stepFor("w-1", { destructive: true })] }), {}, { kind: "report" }],
    [
      "etcd would be started anew",
      observedLab({}, { steps: [stepFor("cp-1", { kind: "bootstrap-etcd" } as never)] }),
      {},
      { kind: "report" },
    ],
    ["another machine is silent", observedLab({ "cp-2": unreachable }, work), {}, { kind: "report" }],
    [
      "no maintenance window is open",
      observedLab({}, { steps: gated, closed: { opens: new Date("2026-11-17T02:00:00Z") } }),
      {},
      { kind: "report", reason: "no maintenance window is open: the next one opens at 2026-11-17T02:00:00.000Z" },
    ],
    ["no window opens again", observedLab({}, { steps: gated, closed: {} }), {}, { kind: "report" }],
    ["a window is open", observedLab({}, { steps: gated }), {}, { kind: "repair" }],
    [
      "something needs no window",
      observedLab({}, { steps: [...gated, stepFor("cp-1")], closed: {} }),
      {},
      { kind: "repair" },
    ],
    ["the last repair has just failed", observedLab({}, work), { rest: 1 }, { kind: "later" }],
    ["the last repair failed long ago", observedLab({}, work), { rest: 0 }, { kind: "repair" }],
  ])("when %s", (_name, look, circumstances, verdict) => {
    expect(verdictOn(look, { allowed: true, now, ...circumstances })).toMatchObject(verdict);
  });

  test.each([
    ["1.36.4", "report", "roll back kube-proxy from 1.36.4 to 1.36.3"],
    ["1.36.2", "repair", "update kube-proxy"],
  ])("on a kube-proxy that has %s instead of 1.36.3 is: %s", (proxyVersion, kind, words) => {
    const desired = wish({ controlPlanes: ["cp-1", "cp-2", "cp-3"], workers: ["w-1"] });
    const steps = plan(desired, found(desired, { proxyVersion }), defaultPolicy);
    expect(steps.map(({ id }) => id)).toEqual(["sync-manifests/cp-1"]);
    expect(steps[0]?.sentence).toContain(words);
    expect(verdictOn(observedLab({}, { steps }), { allowed: true, now }).kind).toBe(kind);
  });

  test("is never to repair what a person has to decide", () => {
    const kinds = fc.constantFrom("apply-config", "reset", "bootstrap-etcd", "upgrade-talos", "remove-etcd-member");
    const steps = fc.array(
      fc.record({ kind: kinds, destructive: fc.boolean() }).map((change) => stepFor("w-1", change as never)),
    );
    fc.assert(
      fc.property(steps, fc.boolean(), (found, allowed) => {
        const verdict = verdictOn(observedLab({}, { steps: found }), { allowed, now });
        const grave = found.some(({ destructive, kind }) => destructive || kind === "bootstrap-etcd");
        if (!allowed || grave) expect(verdict.kind).not.toBe("repair");
      }),
    );
  });
});

describe("a plan of Terraform", () => {
  const values = { name: "lab", endpoint: "https://10.0.0.1:6443", machines: {} };
  const cluster = (steps: readonly string[] | undefined, action: Change["action"] = "update"): Change => ({
    address: "talosmith_cluster.lab",
    type: "talosmith_cluster",
    action,
    before: action === "create" ? null : values,
    after: action === "delete" ? null : { ...values, steps },
    unknown: {},
    replacedFor: [],
  });
  const resource = (type: string, action: Change["action"]): Change => ({
    ...cluster(undefined, action),
    address: `${type}.x`,
    type,
  });
  const config = cluster(["1. apply config to w-1 without a reboot"]);
  const gated = cluster(["1. start w-1 only when a maintenance window is open", "2. drain w-1"]);

  test.each<[string, readonly Change[], { closed?: object }, string | undefined]>([
    ["changes configs", [config], {}, undefined],
    ["writes client files", [config, resource("talosmith_client_files", "update")], {}, undefined],
    ["has nothing to wait for", [gated], {}, undefined],
    ["waits for a window", [gated], { closed: {} }, "no maintenance window is open"],
    ["wipes a machine", [cluster(["1. remove w-1 from the cluster and wipe its disk"])], {}, "remove w-1"],
    ["bootstraps etcd", [cluster(["1. bootstrap etcd on cp-1"])], {}, "bootstrap etcd on cp-1"],
    ["rolls back", [cluster(["1. roll back kube-proxy from 1.36.4 to 1.36.3 and update DNS"])], {}, "roll back"],
    [
      "creates the cluster",
      [cluster(["1. apply initial config to w-1"], "create")],
      {},
      "create talosmith_cluster.lab",
    ],
    ["destroys the cluster", [cluster(undefined, "delete")], {}, "Cluster destroyed"],
    ["has unknown steps", [cluster(undefined)], {}, "its steps are known only during the apply"],
    ["changes a load balancer", [config, resource("aws_lb", "update")], {}, "update aws_lb.x"],
    ["creates a machine", [config, resource("aws_instance", "create")], {}, "create aws_instance.x"],
    ["replaces client files", [resource("talosmith_client_files", "replace")], {}, "replace talosmith_client_files.x"],
  ])("that %s is refused accordingly", (_what, changes, look, reason) => {
    const refusal = refusalOf(reviewPlan(planWith(changes)), look);
    if (reason === undefined) expect(refusal).toBeUndefined();
    else expect(refusal).toContain(reason);
  });

  test("that is not complete is not applied", () => {
    const plan = { ...planWith([config]), errored: true };
    expect(refusalOf(reviewPlan(plan), {})).toBe("the plan is not complete");
  });
});

test("pauses grow with the failures, to half an hour at most", () => {
  expect([1, 2, 3, 100].map(retryDelay)).toEqual([30_000, 60_000, 120_000, 1_800_000]);
});

test("jitter moves an interval by a tenth at most", () => {
  fc.assert(
    fc.property(fc.integer({ min: 5000, max: 1e9 }), fc.double({ min: 0, max: 1, noNaN: true }), (interval, share) => {
      const moved = withJitter(interval, share);
      expect(moved).toBeGreaterThanOrEqual(Math.floor(interval * 0.9));
      expect(moved).toBeLessThanOrEqual(Math.ceil(interval * 1.1));
    }),
  );
});
