// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import type { DesiredCluster } from "../../engine/desired.ts";
import { bootstrapObstacle } from "../../engine/plan/first-contact.ts";
import { plan } from "../../engine/plan/plan.ts";
import { defaultPolicy, type Policy } from "../../engine/policy.ts";
import { type Difference, each, empty, found, told, unreachable } from "./found.ts";
import { type Wish, wish } from "./wish.ts";

const planned = (desired: DesiredCluster, difference?: Difference, policy?: Partial<Policy>) =>
  told(plan(desired, found(desired, difference), { ...defaultPolicy, ...policy }));

const five = wish({ controlPlanes: ["cp-1", "cp-2", "cp-3", "cp-4", "cp-5"], workers: [] });
const small = wish({ controlPlanes: ["cp-1"], workers: ["w-1"] });
const newSmall: Difference = { members: [], machines: each(["cp-1", "w-1"], empty) };

test("a cluster that is as wished needs nothing", () => {
  expect(planned(wish())).toEqual([]);
});

describe("a new cluster", () => {
  test("gets its configs side by side, one etcd, and is waited for", () => {
    const desired = wish({ controlPlanes: ["cp-1", "cp-2"], workers: ["w-1"] });
    expect(planned(desired, { members: [], machines: each(["cp-1", "cp-2", "w-1"], empty) })).toEqual([
      "apply-config/cp-1",
      "apply-config/cp-2",
      "apply-config/w-1",
      "bootstrap-etcd/cp-1 < apply-config/cp-1",
      "join-etcd/cp-1 < apply-config/cp-1 bootstrap-etcd/cp-1",
      "join-kubernetes/cp-1 < apply-config/cp-1 bootstrap-etcd/cp-1 join-etcd/cp-1",
      "join-etcd/cp-2 < apply-config/cp-2 bootstrap-etcd/cp-1",
      "join-kubernetes/cp-2 < apply-config/cp-2 bootstrap-etcd/cp-1 join-etcd/cp-2",
      "join-kubernetes/w-1 < apply-config/w-1 bootstrap-etcd/cp-1",
    ]);
  });

  test("is installed", () => {
    const steps = plan(small, found(small, newSmall), defaultPolicy);
    expect(steps.flatMap((step) => (step.kind === "apply-config" ? [step.effect] : []))).toEqual([
      "install",
      "install",
    ]);
  });

  test.each<[string, Partial<Policy>]>([
    ["the API is enough", { healthLevel: "api" }],
    ["Kubernetes cannot run", { healthLevel: "talos" }],
  ])("is not waited for in Kubernetes where %s", (_, policy) => {
    expect(planned(small, newSmall, policy)).toEqual([
      "apply-config/cp-1",
      "apply-config/w-1",
      "bootstrap-etcd/cp-1 < apply-config/cp-1",
      "join-etcd/cp-1 < apply-config/cp-1 bootstrap-etcd/cp-1",
    ]);
  });

  test("that has its configs already is started and waited for", () => {
    const etcd = { state: "waiting", healthy: false, members: [] } as const;
    const machines = { "cp-1": { etcd, ready: false }, "w-1": { ready: false } };
    expect(planned(small, { machines, nodes: each(["cp-1", "w-1"], "none" as const) })).toEqual([
      "bootstrap-etcd/cp-1",
      "> join-etcd/cp-1",
      "join-kubernetes/cp-1 < bootstrap-etcd/cp-1 join-etcd/cp-1",
      "join-kubernetes/w-1 < bootstrap-etcd/cp-1",
    ]);
  });
});

describe("machines that join a running cluster", () => {
  test("enter etcd one after another, workers beside them", () => {
    expect(planned(five, { members: ["cp-1", "cp-2", "cp-3"], machines: { "cp-4": empty, "cp-5": empty } })).toEqual([
      "apply-config/cp-4",
      "> join-etcd/cp-4",
      "> apply-config/cp-5",
      "> join-etcd/cp-5",
      "join-kubernetes/cp-4 < apply-config/cp-4 join-etcd/cp-4",
      "join-kubernetes/cp-5 < apply-config/cp-5 join-etcd/cp-5",
    ]);
    const mixed: Difference = { members: ["cp-1", "cp-2"], machines: { "cp-3": empty, "w-1": empty, "w-2": empty } };
    expect(planned(wish(), mixed)).toEqual([
      "apply-config/cp-3",
      "> join-etcd/cp-3",
      "apply-config/w-1",
      "apply-config/w-2",
      "join-kubernetes/cp-3 < apply-config/cp-3 join-etcd/cp-3",
      "join-kubernetes/w-1 < apply-config/w-1",
      "join-kubernetes/w-2 < apply-config/w-2",
    ]);
  });

  test("come after what their predecessors left behind was taken away", () => {
    expect(planned(wish(), { machines: { "cp-2": empty }, nodes: { "cp-2": { ready: false } } })).toEqual([
      "remove-etcd-member/cp-2/id-cp-2",
      "> delete-node/cp-2",
      "> apply-config/cp-2",
      "> join-etcd/cp-2",
      "join-kubernetes/cp-2 < apply-config/cp-2 join-etcd/cp-2",
    ]);
    expect(planned(five, { machines: { "cp-2": empty, "cp-3": empty }, nodes: { "cp-2": {} } })).toEqual([
      "remove-etcd-member/cp-2/id-cp-2",
      "> delete-node/cp-2",
      "remove-etcd-member/cp-3/id-cp-3 < remove-etcd-member/cp-2/id-cp-2",
      "apply-config/cp-2 < delete-node/cp-2 remove-etcd-member/cp-3/id-cp-3",
      "> join-etcd/cp-2",
      "> apply-config/cp-3",
      "> join-etcd/cp-3",
      "join-kubernetes/cp-2 < apply-config/cp-2 join-etcd/cp-2",
      "join-kubernetes/cp-3 < apply-config/cp-3 join-etcd/cp-3",
    ]);
    // Its Node is ready for a while longer, but it is not this machine's.
    expect(planned(small, { machines: { "w-1": empty }, nodes: { "w-1": {} } })).toEqual([
      "delete-node/w-1",
      "> apply-config/w-1",
      "> join-kubernetes/w-1",
    ]);
  });

  test("have no member removed when that would cost the quorum", () => {
    const lost = planned(five, { machines: each(["cp-2", "cp-3", "cp-4"], empty) });
    expect(lost.filter((line) => line.includes("remove-etcd-member"))).toEqual([]);
    const two = wish({ controlPlanes: ["cp-1", "cp-2"], workers: [] });
    expect(planned(two, { machines: { "cp-2": empty } })[0]).toBe("apply-config/cp-2");
  });
});

describe("machines that have their config", () => {
  test("are waited for until they are in etcd and in Kubernetes", () => {
    expect(planned(wish(), { nodes: { "cp-1": { ready: false }, "w-1": "none" } })).toEqual([
      "join-kubernetes/cp-1",
      "join-kubernetes/w-1",
    ]);
    const ill = { ...found(wish()).machines.get("cp-2")?.state, kind: "configured" as const };
    const etcd = { ...("etcd" in ill && ill.etcd), state: "running", healthy: false, members: [] } as const;
    expect(planned(wish(), { machines: { "cp-2": { etcd } } })).toEqual(["join-etcd/cp-2"]);
    expect(planned(wish(), { members: ["cp-1", "~cp-2", "cp-3"] })).toEqual(["join-etcd/cp-2"]);
  });

  test("need not be ready where nothing makes them", () => {
    const bare = { ...wish(), nodesBecomeReady: false };
    expect(planned(bare, { nodes: { "w-1": { ready: false }, "w-2": "none" } })).toEqual(["join-kubernetes/w-2"]);
  });

  test("are let into service again where an earlier run has left its cordon, and no other cordon is touched", () => {
    expect(planned(wish(), { nodes: { "w-1": { cordonedByUs: true }, "w-2": { unschedulable: true } } })).toEqual([
      "uncordon/w-1",
    ]);
    expect(planned(wish(), { nodes: { "w-1": { cordonedByUs: true, ready: false } } })).toEqual([
      "join-kubernetes/w-1",
      "> uncordon/w-1",
    ]);
    // Marked, but open: nothing to lift.
    expect(planned(wish(), { nodes: { "w-1": { cordonedByUs: true, unschedulable: false } } })).toEqual([]);
    expect(planned(wish(), { machines: { "w-1": unreachable }, nodes: { "w-1": { cordonedByUs: true } } })).toEqual([]);
  });

  test.each(["cp-1", "w-1"])(
    "are uncordoned before anything else when only a change without a reboot is left: %s",
    (name) => {
      const [first] = planned(wish({ sysctl: "2" }), { was: wish(), nodes: { [name]: { cordonedByUs: true } } });
      expect(first).toBe(`uncordon/${name}`);
    },
  );

  test("are uncordoned after the change that may heal them, and after one that reboots them", () => {
    const nodes = { "w-1": { cordonedByUs: true, ready: false } };
    const healing = planned(wish({ sysctl: "2" }), { was: wish(), nodes });
    expect(healing.indexOf("> uncordon/w-1")).toBeGreaterThan(healing.indexOf("> apply-config/w-1"));
    const rebooting = planned(wish({ file: "b" }), { was: wish(), nodes: { "w-1": { cordonedByUs: true } } });
    expect(rebooting.indexOf("> uncordon/w-1")).toBeGreaterThan(rebooting.indexOf("> apply-config/w-1"));
  });

  test.each<[string, Wish, Wish]>([
    ["a config", {}, { file: "b" }],
    ["a Talos", { talos: "v1.12.11", kubernetes: "1.35.4" }, { kubernetes: "1.35.4" }],
  ])("are not waited for before %s that may heal them, nor let into service before it", (_, before, after) => {
    const one = { controlPlanes: ["cp-1"], workers: ["w-1"] };
    const nodes = { "cp-1": { ready: false }, "w-1": { cordonedByUs: true } };
    const lines = planned(wish({ ...one, ...after }), { was: wish({ ...one, ...before }), nodes });
    expect(lines[0]).toMatch(/^(drain|pull-installer)\/cp-1$/);
    expect(lines.indexOf("> uncordon/w-1")).toBe(lines.length - 1);
  });

  test("that nobody has looked at get nothing", () => {
    const seen = found(small);
    const more = wish({ controlPlanes: ["cp-1", "cp-2"], workers: ["w-1", "w-2"], leaving: ["w-3"] });
    const meta = { "10": "a" };
    const machines = more.machines.map((machine) => ({ ...machine, meta }));
    expect(told(plan({ ...more, machines }, seen, defaultPolicy))).toEqual([]);
    expect(bootstrapObstacle(more, { ...seen, machines: new Map() })).toContain("not observed");
    const onlyWorkers = { machines: more.machines.filter(({ role }) => role === "worker"), leaving: [] };
    expect(bootstrapObstacle(onlyWorkers, { ...seen, machines: new Map() })).toBeUndefined();
  });

  test("are left alone while they cannot be reached or belong to others", () => {
    const foreign = { kind: "foreign", reason: "not ours" } as const;
    expect(planned(wish(), { machines: { "cp-2": unreachable, "w-1": foreign } })).toEqual([]);
    expect(planned(wish(), { kubernetes: "unreachable" }, { healthLevel: "talos" })).toEqual([]);
  });
});

describe("META", () => {
  const withMeta = (meta: Readonly<Record<string, string>>): DesiredCluster => ({
    ...small,
    machines: small.machines.map((machine) => (machine.name === "w-1" ? { ...machine, meta } : machine)),
  });
  const metaSteps = (desired: DesiredCluster, difference: Difference) =>
    plan(desired, found(desired, difference), defaultPolicy).filter(({ kind }) => kind === "write-meta");

  test.each<
    [string, Readonly<Record<string, string>>, Readonly<Record<string, string>> | undefined, readonly number[]]
  >([
    ["that is as wished", { "10": "a" }, { "10": "a" }, []],
    ["of other keys", {}, { "10": "a" }, []],
    ["that is missing or another", { "12": "b", "10": "a", "9": "c" }, { "12": "x", "9": "c" }, [10, 12]],
    ["by number, not by letter", { "12": "b", "9": "c" }, {}, [9, 12]],
    ["that should go", { "10": "", "11": "" }, { "10": "a" }, [10]],
    ["that the machine does not tell", { "10": "a" }, undefined, []],
  ])("%s", (_, meta, have, keys) => {
    const steps = metaSteps(withMeta(meta), { machines: { "w-1": have === undefined ? {} : { meta: have } } });
    expect(steps.flatMap((step) => (step.kind === "write-meta" ? step.keys : []))).toEqual(keys);
  });

  test("comes after the first config, and waits for machines out of reach", () => {
    expect(told(metaSteps(withMeta({ "10": "a" }), { machines: { "w-1": empty } }))).toEqual([
      "write-meta/w-1 < apply-config/w-1",
    ]);
    expect(metaSteps(withMeta({ "10": "a" }), { machines: { "w-1": unreachable } })).toEqual([]);
  });
});

describe("etcd is not started", () => {
  const stages = (stage: "rebooting" | "resetting" | "upgrading" | "shutting down" | "booting") => ({
    "cp-1": { stage, etcd: { state: "waiting", healthy: false, members: [] } } as const,
  });
  test.each<[string, Difference, string | undefined]>([
    ["where it is", {}, "cp-1 already has etcd data"],
    [
      "where it was",
      { machines: { "cp-1": { etcd: { state: "down", healthy: false, members: [] } } } },
      "cp-1 already has etcd data",
    ],
    [
      "where nobody can look",
      { machines: { "cp-1": unreachable } },
      "cp-1 cannot be asked whether it has etcd data: refused",
    ],
    [
      "on someone else's machine",
      { machines: { "cp-1": { kind: "foreign", reason: "not ours" } } },
      "cp-1 cannot be asked whether it has etcd data: not ours",
    ],
    ["while a machine reboots", { machines: stages("rebooting") }, "cp-1 is rebooting"],
    ["while a machine is reset", { machines: stages("resetting") }, "cp-1 is resetting"],
    ["while a machine is upgraded", { machines: stages("upgrading") }, "cp-1 is upgrading"],
    ["while a machine goes down", { machines: stages("shutting down") }, "cp-1 is shutting down"],
    [
      "beside a worker that was in a cluster",
      { machines: { "cp-1": empty } },
      "w-1 is a node of a cluster that had an etcd",
    ],
    ["in no other case: empty", { machines: each(["cp-1", "w-1"], empty) }, undefined],
    ["in no other case: booting", { machines: { ...stages("booting"), "w-1": { ready: false } } }, undefined],
    ["in no other case: a worker out of reach", { machines: { "cp-1": empty, "w-1": unreachable } }, undefined],
  ])("%s", (_, difference, reason) => {
    expect(bootstrapObstacle(small, found(small, difference))).toBe(reason);
    const starts = planned(small, difference).some((line) => line.includes("bootstrap-etcd"));
    expect(starts).toBe(reason === undefined);
  });

  test("while a leaving control plane has it, or was never looked at", () => {
    const leaving = wish({ controlPlanes: ["cp-1"], workers: [], leaving: ["cp-2"] });
    expect(bootstrapObstacle(leaving, found(leaving, { machines: { "cp-1": empty } }))).toBe(
      "cp-2 already has etcd data",
    );
    expect(bootstrapObstacle(leaving, found(small, { machines: { "cp-1": empty } }))).toBe(
      "cp-2 cannot be asked whether it has etcd data: not observed",
    );
  });
});
