// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import type { DesiredCluster } from "../../engine/desired.ts";
import { plan } from "../../engine/plan/plan.ts";
import { pauseIds, splitCanaries } from "../../engine/plan/plan-caution.ts";
import { planWorkers, workerLanes } from "../../engine/plan/plan-rollout.ts";
import { defaultPolicy, type Policy, unavailableLimit } from "../../engine/policy.ts";
import { MachineConfig } from "../../talos/config/index.ts";
import { schematicId } from "../../talos/image/index.ts";
import { type Difference, each, found, told, unreachable } from "./found.ts";
import { wish } from "./wish.ts";

const planned = (desired: DesiredCluster, difference?: Difference, policy?: Partial<Policy>) =>
  told(plan(desired, found(desired, difference), { ...defaultPolicy, ...policy }));
const small = { controlPlanes: ["cp-1"], workers: ["w-1"] };
const gates: Partial<Policy> = { gates: [{ command: ["true"], timeout: 1000 }] };
const windows: Partial<Policy> = { windows: [{ schedule: "0 3 * * *", duration: 1, timeZone: "UTC" }] };
const both = { ...gates, ...windows };
const rebooted = (name: string) => {
  const etcd = name.startsWith("cp") ? [`> join-etcd/${name}`] : [];
  return [`> apply-config/${name}`, ...etcd, `> join-kubernetes/${name}`, `> uncordon/${name}`];
};

describe("the control plane that answers for the shared address", () => {
  const machines = { "cp-1": { sharedAddress: "10.0.0.5" } };
  const order = (desired: DesiredCluster, kinds: readonly string[], difference: Difference) =>
    plan(desired, found(desired, difference), defaultPolicy).flatMap(({ id, kind, sentence }) =>
      kinds.includes(kind) && /cp-/.test(id) ? [sentence] : [],
    );
  const note = "(last of the control planes, because 10.0.0.5 is on it)";

  test.each<[string, DesiredCluster, DesiredCluster, string, readonly string[]]>([
    [
      "a config that reboots",
      wish({ file: "b" }),
      wish(),
      "apply-config",
      ["cp-2", "cp-3", "cp-1"].map((name) => `apply config to ${name} and reboot it`),
    ],
    [
      "a new Talos",
      wish({ talos: "v1.13.10" }),
      wish(),
      "upgrade-talos",
      ["cp-2", "cp-3", "cp-1"].map((name) => `upgrade Talos on ${name} from v1.13.9 to v1.13.10`),
    ],
    [
      "a new API server",
      wish({ kubernetes: "1.36.3" }),
      wish({ kubernetes: "1.36.1" }),
      "upgrade-kubernetes",
      ["cp-2", "cp-3", "cp-1"].map((name) => `upgrade kube-apiserver on ${name} from 1.36.1 to 1.36.3`),
    ],
  ])("gets %s last, and the plan says why", (_, desired, was, kind, [first, second, last]) => {
    const sentences = order(desired, [kind], { was, machines }).slice(0, 3);
    expect(sentences).toEqual([first, second, `${last} ${note}`]);
  });

  test("comes first where it is the one that needs it, and says nothing where it is alone", () => {
    const nodes = { "cp-1": { ready: false } };
    const [first] = order(wish({ file: "b" }), ["apply-config"], { was: wish(), machines, nodes });
    expect(first).toContain("cp-1");
    expect(order(wish({ ...small, file: "b" }), ["apply-config"], { was: wish(small), machines })).toEqual([
      "apply config to cp-1 and reboot it",
    ]);
  });
});

describe("a changed config", () => {
  test("goes over control planes one by one, then one worker, then as many lanes as workers may be away", () => {
    const workers = ["w-1", "w-2", "w-3", "w-4"];
    const settled = ["cp-1", "cp-2", "cp-3"].flatMap((name, index) => [
      `${index === 0 ? "" : "> "}apply-config/${name}`,
      `> join-etcd/${name}`,
      `> join-kubernetes/${name}`,
    ]);
    const difference = { was: wish({ workers }) };
    expect(planned(wish({ sysctl: "2", workers }), difference, { maxUnavailable: 2 })).toEqual([
      ...settled,
      "> apply-config/w-1",
      "> join-kubernetes/w-1",
      "> apply-config/w-2",
      "> join-kubernetes/w-2",
      "apply-config/w-3 < join-kubernetes/w-1",
      "> join-kubernetes/w-3",
      "apply-config/w-4 < join-kubernetes/w-2",
      "> join-kubernetes/w-4",
    ]);
  });

  test("that needs a reboot drains each machine first and lets it into service afterwards", () => {
    expect(planned(wish({ file: "b" }), { was: wish() })).toEqual([
      "drain/cp-1",
      ...rebooted("cp-1"),
      ...["cp-2", "cp-3", "w-1", "w-2"].flatMap((name) => [`> drain/${name}`, ...rebooted(name)]),
    ]);
  });

  test("tells what it does to the machine", () => {
    const effects = (after: DesiredCluster) =>
      plan(after, found(after, { was: wish(small) }), defaultPolicy).flatMap((step) =>
        step.kind === "apply-config" ? [step.effect] : [],
      );
    expect(effects(wish({ ...small, file: "b" }))).toEqual(["reboot", "reboot"]);
    expect(effects(wish({ ...small, sysctl: "2" }))).toEqual(["no-reboot", "no-reboot"]);
  });

  test("keeps the order of control planes over one whose cordon is lifted before the rollout", () => {
    const desired = wish({ file: "b", workers: [] });
    const text = desired.machines.find(({ name }) => name === "cp-2")?.config.text.replace('"1"', '"0"');
    const begun = new MachineConfig(text ?? "");
    const observed = found(desired, {
      was: wish({ workers: [] }),
      machines: { "cp-2": { config: begun } },
      nodes: each(["cp-1", "cp-2"], { cordonedByUs: true }),
    });
    const steps = plan(desired, observed, defaultPolicy);
    const isBefore = (first: string, id: string): boolean => {
      const after = steps.find((step) => step.id === id)?.after ?? [];
      return after.some((other) => other === first || isBefore(first, other));
    };
    expect(steps[0]?.id).toBe("uncordon/cp-2");
    expect(isBefore("uncordon/cp-1", "drain/cp-3")).toBe(true);
  });

  test("leaves a cordon that someone else has set, and drains nothing that Kubernetes does not know", () => {
    const difference: Difference = { was: wish(small), nodes: { "cp-1": { unschedulable: true }, "w-1": "none" } };
    expect(planned(wish({ ...small, file: "b" }), difference)).toEqual([
      "drain/cp-1",
      "> apply-config/cp-1",
      "> join-etcd/cp-1",
      "> join-kubernetes/cp-1",
      "> apply-config/w-1",
      "> join-kubernetes/w-1",
    ]);
  });

  test("goes to ailing and half-done machines first, and waits there", () => {
    const difference: Difference = { was: wish(), nodes: { "w-2": { ready: false }, "cp-3": { cordonedByUs: true } } };
    expect(planned(wish({ file: "b" }), difference)).toEqual([
      "drain/cp-3",
      ...rebooted("cp-3"),
      ...["cp-1", "cp-2", "w-2", "w-1"].flatMap((name) => [`> drain/${name}`, ...rebooted(name)]),
    ]);
  });

  test("passes over machines out of reach", () => {
    const difference: Difference = { was: wish(small), machines: { "cp-1": unreachable } };
    expect(planned(wish({ ...small, file: "b" }), difference)).toEqual(["drain/w-1", ...rebooted("w-1")]);
  });
});

describe("a new Talos", () => {
  const before = wish({ ...small, talos: "v1.12.11", kubernetes: "1.35.4" });
  const upgraded = (name: string, mark = "> ") => [
    `${mark}pull-installer/${name}`,
    `> drain/${name}`,
    `> upgrade-talos/${name}`,
  ];
  test.each([
    ["v1.14.0-rc.1", "v1.14.0", 2],
    ["v1.14.0-rc.0", "v1.14.0-rc.1", 2],
    ["v1.14.0", "v1.14.0-rc.1", 0],
  ])("takes %s to %s as a release of its own, and never back", (from, to, upgrades) => {
    const ids = planned(wish({ ...small, talos: to }), { was: wish({ ...small, talos: from }) });
    expect(ids.filter((id) => id.includes("upgrade-talos"))).toHaveLength(upgrades);
  });

  test("is fetched before the machine is drained, and its config comes after it", () => {
    expect(planned(wish({ ...small, kubernetes: "1.35.4", file: "b" }), { was: before })).toEqual([
      ...upgraded("cp-1", ""),
      ...rebooted("cp-1"),
      ...upgraded("w-1"),
      ...rebooted("w-1"),
    ]);
  });

  test("is not waited for in Kubernetes where there is none", () => {
    const nodes = each(["cp-1", "w-1"], "none" as const);
    expect(planned(wish({ ...small, kubernetes: "1.35.4" }), { was: before, nodes }, { healthLevel: "talos" })).toEqual(
      [
        "pull-installer/cp-1",
        "> upgrade-talos/cp-1",
        "> join-etcd/cp-1",
        "> pull-installer/w-1",
        "> upgrade-talos/w-1",
      ],
    );
  });

  test("names versions and image; the same version when only the schematic is another", () => {
    const upgrades = (desired: DesiredCluster, difference: Difference) =>
      plan(desired, found(desired, difference), defaultPolicy).flatMap((step) =>
        step.kind === "upgrade-talos" ? [`${step.machine} ${step.from} ${step.to} ${step.image}`] : [],
      );
    expect(upgrades(wish({ ...small, kubernetes: "1.35.4" }), { was: before })).toEqual([
      "cp-1 v1.12.11 v1.13.9 ghcr.io/siderolabs/installer:v1.13.9",
      "w-1 v1.12.11 v1.13.9 ghcr.io/siderolabs/installer:v1.13.9",
    ]);
    const machines = { "cp-1": { schematic: "a".repeat(64) }, "w-1": { schematic: "b".repeat(64) } };
    expect(upgrades(wish({ ...small, schematic: "a" }), { machines })).toEqual([
      `w-1 v1.13.9 v1.13.9 factory.talos.dev/metal-installer/${"a".repeat(64)}:v1.13.9`,
    ]);
  });

  const plain = schematicId({});
  test.each([
    ["nothing is added to the image and the machine reports no schematic", plain, "", []],
    ["the machine does not answer which one it runs", "a".repeat(64), undefined, []],
    ["it runs the plain schematic, and nothing is added to the image", plain, plain, []],
    ["something is added to the image and the machine reports no schematic", "a".repeat(64), "", ["cp-1"]],
    ["it runs extensions that are no longer asked for", plain, "a".repeat(64), ["cp-1"]],
  ])("of the schematic: %s", (_case, asked, schematic, expected) => {
    const desired = wish({ controlPlanes: ["cp-1"], workers: [], schematic: asked });
    const machines = { "cp-1": schematic === undefined ? {} : { schematic } };
    const steps = plan(desired, found(desired, { machines }), defaultPolicy);
    expect(steps.filter(({ kind }) => kind === "upgrade-talos").map(({ machine }) => machine)).toEqual(expected);
  });

  test("is never an older one", () => {
    expect(planned(before, { was: wish({ ...small, kubernetes: "1.35.4" }) })).toEqual([]);
  });
});

describe("caution", () => {
  test.each([gates, windows, both])("asks before each machine, but not again for one that was begun", (policy) => {
    const difference: Difference = { was: wish(small), nodes: { "w-1": { cordonedByUs: true } } };
    expect(planned(wish({ ...small, file: "b" }), difference, policy)).toEqual([
      "gate/cp-1/change",
      "> drain/cp-1",
      ...rebooted("cp-1"),
      "> drain/w-1",
      ...rebooted("w-1"),
    ]);
  });

  test("stops after the canaries", () => {
    const canary = { machines: 2, soak: 1000, afterwards: "continue" } as const;
    const desired = wish({ file: "b" });
    const steps = plan(desired, found(desired, { was: wish() }), { ...defaultPolicy, canary });
    const pause = steps.find(({ kind }) => kind === "pause");
    expect(pause).toMatchObject({ machine: "cp-2", canaries: ["cp-1", "cp-2"], soak: 1000, afterwards: "continue" });
    expect(pause?.after).toEqual(["uncordon/cp-2"]);
    expect(steps.find(({ id }) => id === "drain/cp-3")?.after).toEqual([pause?.id]);
  });
});

describe("canaries", () => {
  const machines = ["a", "b", "c"];
  const split = (count: number) =>
    splitCanaries(machines, { ...defaultPolicy, canary: { machines: count, soak: 0, afterwards: "stop" } });
  test("are the first of a change, and none where nobody would be left", () => {
    expect(split(1)).toEqual({ canaries: ["a"], rest: ["b", "c"] });
    expect(split(2)).toEqual({ canaries: ["a", "b"], rest: ["c"] });
    expect(split(3)).toEqual({ canaries: [], rest: machines });
    expect(split(4)).toEqual({ canaries: [], rest: machines });
    expect(splitCanaries(machines, defaultPolicy)).toEqual({ canaries: [], rest: machines });
  });

  test("have a pause that every run with the same wish knows again, and no other", () => {
    const canary = { machines: 1, soak: 0, afterwards: "stop" } as const;
    const pauseOf = (desired: DesiredCluster) =>
      plan(desired, found(desired, { was: wish() }), { ...defaultPolicy, canary }).find(({ kind }) => kind === "pause");
    const desired = wish({ file: "b" });
    expect(pauseIds(desired)).toHaveLength(2);
    expect(pauseIds(desired)).toEqual(pauseIds(wish({ file: "b" })));
    expect(pauseIds(desired)[0]).toBe(pauseOf(desired)?.id);
    expect(pauseIds(desired)[1]).toBe(pauseIds(desired)[0]?.replace("machines", "kubelets"));
    const others = [wish({ file: "c" }), wish({ file: "b", schematic: "a" }), wish({ file: "b", workers: [] })];
    const later = { ...desired, kubernetesVersion: "1.36.4" };
    const ids = [desired, later, ...others].map((one) => pauseIds(one)[0]);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("that did nothing are not waited for", () => {
    const canary = { machines: 1, soak: 0, afterwards: "stop" } as const;
    expect(planned(wish(), {}, { canary })).toEqual([]);
  });
});

describe("workers side by side", () => {
  const order = (count: number, lanes: number) => {
    const lines: string[] = [];
    const last = planWorkers(
      Array.from({ length: count }, (_, index) => `w${index + 1}`),
      lanes,
      ["before"],
      (worker, after) => {
        lines.push(`${worker} < ${after.join(" ")}`);
        return worker;
      },
    );
    return [...lines, `last ${last.join(" ")}`];
  };
  test.each([
    [0, 2, ["last before"]],
    [1, 3, ["w1 < before", "last w1"]],
    [3, 1, ["w1 < before", "w2 < w1", "w3 < w2", "last w3"]],
    [5, 3, ["w1 < before", "w2 < w1", "w3 < w1", "w4 < w1", "w5 < w2", "last w5 w3 w4"]],
    [3, 4, ["w1 < before", "w2 < w1", "w3 < w1", "last w2 w3 w1"]],
  ])("%i of them in %i lanes", (count, lanes, lines) => {
    expect(order(count, lanes)).toEqual(lines);
  });

  test.each<[Policy["maxUnavailable"], number, number]>([
    [1, 0, 1],
    [3, 2, 3],
    ["25%", 8, 2],
    ["25%", 7, 1],
    ["25%", 1, 1],
    ["100%", 5, 5],
    ["33%", 100, 33],
  ])("%s of %i may be away: %i", (maxUnavailable, workers, limit) => {
    expect(unavailableLimit({ maxUnavailable }, workers)).toBe(limit);
  });

  test("a share is one of the workers, whatever control planes there are", () => {
    const desired = wish({ controlPlanes: ["cp-1", "cp-2", "cp-3"], workers: ["w-1", "w-2", "w-3", "w-4"] });
    expect(workerLanes(desired, { ...defaultPolicy, maxUnavailable: "50%" })).toBe(2);
  });

  test.each([0, -1, 1.5, Number.NaN, "x%" as const])("%s is no such number", (maxUnavailable) => {
    expect(() => unavailableLimit({ maxUnavailable: maxUnavailable as number }, 4)).toThrow(
      expect.objectContaining({
        code: "invalid-input",
        message: `maxUnavailable is ${maxUnavailable}`,
        hint: 'Give a whole number from 1 on, or a share such as "25%".',
      }),
    );
  });
});
