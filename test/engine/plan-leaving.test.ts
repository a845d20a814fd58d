// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import type { DesiredCluster } from "../../engine/desired.ts";
import { plan, planDestroy, planLeave } from "../../engine/plan/plan.ts";
import { defaultPolicy, type Policy } from "../../engine/policy.ts";
import { type Difference, empty, found, told, unreachable } from "./found.ts";
import { wish } from "./wish.ts";

const planned = (desired: DesiredCluster, difference?: Difference, policy?: Partial<Policy>) =>
  told(plan(desired, found(desired, difference), { ...defaultPolicy, ...policy }));
const small = { controlPlanes: ["cp-1"], workers: ["w-1"] };
const gates: Partial<Policy> = { gates: [{ command: ["true"], timeout: 1000 }] };
const going = (name: string) => [`> drain/${name}`, `> reset/${name}`, `> delete-node/${name}`];

describe("machines that leave", () => {
  test("go one after another, drained and wiped; who leads etcd hands over first", () => {
    const desired = wish({ leaving: ["cp-4", "w-3"] });
    expect(planned(desired, { leader: "cp-4" })).toEqual([
      "forfeit-leadership/cp-4",
      ...going("cp-4"),
      ...going("w-3"),
    ]);
    expect(planned(desired, { leader: "cp-2" })).toEqual(["drain/cp-4", ...going("cp-4").slice(1), ...going("w-3")]);
  });

  test("leave etcd itself and are wiped gracefully", () => {
    const desired = wish({ leaving: ["cp-4"] });
    const reset = plan(desired, found(desired), defaultPolicy).find(({ kind }) => kind === "reset");
    expect(reset).toMatchObject({ graceful: true, destructive: true });
  });

  test("are only wiped where Kubernetes does not know them", () => {
    expect(planned(wish({ ...small, leaving: ["w-3"] }), { nodes: { "w-3": "none" } })).toEqual(["reset/w-3"]);
  });

  test("stay where etcd would lose its quorum, whoever has gone before", () => {
    const all = wish({ controlPlanes: ["cp-1"], workers: [], leaving: ["cp-2", "cp-3", "cp-4"] });
    expect(planned(all)).toEqual(["drain/cp-2", ...going("cp-2").slice(1), ...going("cp-3"), ...going("cp-4")]);
    // Of four members one is ill: one can go, and then the other two must stay for the two that are well.
    const ill = { etcd: { state: "running", healthy: false, memberId: "id-cp-1", members: [] } } as const;
    expect(
      planned(all, { machines: { "cp-1": ill }, leader: "cp-2" }).filter((line) => line.includes("reset")),
    ).toEqual(["> reset/cp-2"]);
    const last = wish({ ...small, leaving: ["cp-2"] });
    expect(planned(last, { members: ["cp-2"], leader: "cp-2" }).join()).not.toContain("reset");
  });

  test("of a cluster whose etcd was never started just go", () => {
    const desired = wish({ ...small, leaving: ["cp-2"] });
    const etcd = { state: "waiting", healthy: false, members: [] } as const;
    const machines = { "cp-1": { etcd }, "cp-2": { etcd } };
    expect(planned(desired, { machines }).filter((line) => line.endsWith("/cp-2"))).toContain("> reset/cp-2");
  });

  test("stay while no etcd answers, where they have data of one", () => {
    const desired = wish({ ...small, leaving: ["cp-2", "w-3"] });
    const etcd = { state: "down", healthy: false, members: [] } as const;
    const machines = { "cp-1": { etcd }, "cp-2": { etcd } };
    expect(planned(desired, { machines }).filter((line) => line.includes("reset"))).toEqual(["> reset/w-3"]);
  });

  test("that never became a member just go", () => {
    const desired = wish({ ...small, leaving: ["cp-2"] });
    expect(planned(desired, { members: ["cp-1"] })).toEqual(["drain/cp-2", ...going("cp-2").slice(1)]);
  });

  test("are asked for at the gate, unless they have begun to go", () => {
    const desired = wish({ ...small, leaving: ["w-3", "w-4"] });
    expect(planned(desired, { nodes: { "w-3": { cordonedByUs: true } } }, gates)).toEqual([
      "drain/w-3",
      ...going("w-3").slice(1),
      "> gate/w-4/leave",
      ...going("w-4"),
    ]);
  });

  test("that are dead leave a member and a Node, which are taken away first", () => {
    const desired = wish({ leaving: ["cp-4", "w-3", "w-4"] });
    const difference: Difference = {
      machines: { "cp-4": unreachable, "w-3": empty, "w-4": unreachable },
      nodes: { "cp-4": {}, "w-3": {} },
    };
    expect(planned(desired, difference)).toEqual([
      "remove-etcd-member/cp-4/id-cp-4",
      "> delete-node/cp-4",
      "delete-node/w-3 < remove-etcd-member/cp-4/id-cp-4",
    ]);
  });

  test("of the same name twice in etcd lose both members, one after the other", () => {
    const desired = wish({ leaving: ["cp-4"] });
    const seen = found(desired, { machines: { "cp-4": unreachable } });
    const machines = new Map(
      [...seen.machines].map(([name, machine]) => {
        const { state } = machine;
        if (state.kind !== "configured" || state.etcd === undefined) return [name, machine] as const;
        const [first] = state.etcd.members.filter(({ hostname }) => hostname === "cp-4");
        const twin = { id: "id-twin", hostname: "cp-4", peerUrls: first?.peerUrls ?? [], learner: true };
        const etcd = { ...state.etcd, members: [...state.etcd.members, twin] };
        return [name, { ...machine, state: { ...state, etcd } }] as const;
      }),
    );
    expect(told(plan(desired, { ...seen, machines }, defaultPolicy))).toEqual([
      "remove-etcd-member/cp-4/id-cp-4",
      "> remove-etcd-member/cp-4/id-twin",
    ]);
  });
});

describe("only leaving", () => {
  const desired = wish({ leaving: ["w-3", "w-4"] });
  test("touches no other machine, and asks the gates", () => {
    const seen = found(desired, { machines: { "cp-2": empty, "w-4": unreachable }, nodes: { "cp-2": {}, "w-4": {} } });
    expect(told(planLeave(desired, seen, { ...defaultPolicy, ...gates }))).toEqual([
      "delete-node/w-4",
      "> gate/w-3/leave",
      "> drain/w-3",
      "> reset/w-3",
      "> delete-node/w-3",
    ]);
  });
});

describe("destroying", () => {
  const desired = wish({ controlPlanes: ["cp-1", "cp-2"], workers: ["w-1", "w-2"], leaving: ["w-3", "cp-3"] });
  const seen = found(desired, { machines: { "w-2": empty } });

  test("wipes every machine that has a config, side by side and without asking etcd", () => {
    const steps = planDestroy(desired, seen);
    expect(told(steps)).toEqual(["reset/cp-1", "reset/cp-2", "reset/w-1", "reset/w-3", "reset/cp-3"]);
    expect(steps.every((step) => step.kind === "reset" && !step.graceful)).toBe(true);
  });

  test("keeps the way to the machines open until the last", () => {
    expect(told(planDestroy({ ...desired, talosEndpoints: ["cp-1"] }, seen))).toEqual([
      "reset/w-1",
      "reset/w-3",
      "reset/cp-2 < reset/w-1 reset/w-3",
      "reset/cp-3 < reset/w-1 reset/w-3 reset/cp-2",
      "reset/cp-1 < reset/w-1 reset/w-3 reset/cp-2 reset/cp-3",
    ]);
  });
});
