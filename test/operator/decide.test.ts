// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { type Circumstances, decide, decideAbsent } from "../../operator/decide.ts";
import { observedLab, stepFor, unreachable } from "../watch/observations.ts";

const usual: Circumstances = {
  manage: "Create",
  wasReady: true,
  surplus: new Set(),
  missing: [],
  planDue: false,
  now: Date.parse("2026-11-16T12:00:00Z"),
};
const work = { kind: "work", name: "Update" };
const person = (reason: string) => ({ kind: "rest", situation: { kind: "person", reason } });
const settled = { kind: "rest", situation: { kind: "settled" } };
const maintenance = { state: { kind: "maintenance", fingerprint: "" } } as const;

describe("what is done about a cluster", () => {
  test.each<[string, Parameters<typeof decide>[0], Partial<Circumstances>, object]>([
    ["nothing differs", observedLab(), {}, settled],
    ["a config differs", observedLab({}, { steps: [stepFor("w-1")] }), {}, work],
    [
      "a config differs and it is only observed",
      observedLab({}, { steps: [stepFor("w-1")] }),
      { manage: "Observe" },
      settled,
    ],
    ["a config differs and it is repaired", observedLab({}, { steps: [stepFor("w-1")] }), { manage: "Repair" }, work],
    ["a machine is to be made", observedLab(), { missing: ["w-2"] }, work],
    ["a machine is to be made and it is only repaired", observedLab(), { missing: ["w-2"], manage: "Repair" }, settled],
    [
      "a machine that left the spec is to be wiped",
      observedLab({}, { steps: [stepFor("w-1", { destructive: true })] }),
      { surplus: new Set(["w-1"]) },
      work,
    ],
    [
      "a machine that left the spec is to be wiped and it is only repaired",
      observedLab({}, { steps: [stepFor("w-1", { destructive: true })] }),
      { surplus: new Set(["w-1"]), manage: "Repair" },
      person("NeedsPerson"),
    ],
    [
      "a machine of the spec is to be wiped",
      observedLab({}, { steps: [stepFor("w-1", { destructive: true })] }),
      {},
      person("NeedsPerson"),
    ],
    [
      "a machine does not answer",
      observedLab({ "w-1": unreachable }, { steps: [stepFor("cp-1")] }),
      {},
      person("NeedsPerson"),
    ],
    [
      "something is in the way",
      observedLab({}, { steps: [stepFor("w-1")], obstacle: "the CAs" }),
      {},
      person("Blocked"),
    ],
  ])("%s", (_what, observation, circumstances, decision) => {
    expect(decide(observation, { ...usual, ...circumstances })).toMatchObject(decision);
  });

  test("control planes that are all empty need a restore, unless the cluster was never ready", () => {
    const lost = { "cp-1": maintenance.state, "cp-2": maintenance.state, "cp-3": maintenance.state };
    const observation = observedLab(lost, { steps: [stepFor("cp-1")] });
    expect(decide(observation, usual)).toMatchObject({ situation: { kind: "restore-needed" } });
    expect(decide(observation, { ...usual, wasReady: false })).toEqual({ kind: "work", name: "Create" });
  });

  test("a cluster that is not there is created only where it never was", () => {
    const absent = { manage: "Create", wasReady: false, bundle: false } as const;
    expect(decideAbsent("no machine", absent)).toEqual({ kind: "work", name: "Create" });
    expect(decideAbsent("no machine", { ...absent, manage: "Repair" })).toMatchObject({
      situation: { kind: "absent" },
    });
    const gone = { ...absent, wasReady: true, bundle: true };
    expect(decideAbsent("no machine", gone)).toMatchObject({ situation: { kind: "restore-needed" } });
    expect(decideAbsent("no secrets", { ...gone, bundle: false })).toMatchObject(person("SecretsLost"));
  });
});
