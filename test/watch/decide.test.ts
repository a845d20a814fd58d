// SPDX-License-Identifier: Apache-2.0
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { defaultPolicy, plan } from "../../engine/index.ts";
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
  test.each<[string, ClusterObservation, { allowed?: boolean; rest?: number }, object]>([
    ["nothing differs", observedLab(), {}, { kind: "nothing" }],
    ["something differs", observedLab({}, work), {}, { kind: "repair" }],
    ["a client file ends soon", observedLab({}, { certificates: ending }), {}, { kind: "repair" }],
    ["repairing is not allowed", observedLab({}, work), { allowed: false }, { kind: "report" }],
    [
      "it belongs to Terraform",
      observedLab({}, { ...work, obstacle: "Terraform's" }),
      {},
      { kind: "report", reason: "Terraform's" },
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
