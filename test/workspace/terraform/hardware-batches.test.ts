// SPDX-License-Identifier: Apache-2.0
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { HardwareOrder } from "../../../engine/index.ts";
import type { HardwareChange } from "../../../review/index.ts";
import { hardwareBatches, refuseUnshown, rolloutSentence } from "../../../workspace/terraform/hardware-batches.ts";

const change = (name: string): HardwareChange => ({
  name,
  controlPlane: name.startsWith("cp"),
  addresses: [`libvirt_domain.x["${name}"]`],
});
const changes = (names: string) => names.split(" ").map(change);
const order = (drained: readonly string[], holder?: string): Pick<HardwareOrder, "drained" | "holderLast"> => ({
  drained: new Set(drained),
  holderLast: (machines) => [
    ...machines.filter(({ name }) => name !== holder),
    ...machines.filter(({ name }) => name === holder),
  ],
});
const batches = (names: string, limit: number, begun: readonly string[] = [], holder?: string) =>
  hardwareBatches({ changes: changes(names), limit }, order(begun, holder)).map((batch) =>
    batch.map(({ name }) => name).join(" "),
  );

describe("machines whose hardware changes", () => {
  test.each<[string, string, number, readonly string[], readonly string[]]>([
    ["one worker", "w-1", 1, [], ["w-1"]],
    ["workers one at a time", "w-1 w-2 w-3", 1, [], ["w-1", "w-2", "w-3"]],
    ["the first worker alone, then two at a time", "w-1 w-2 w-3 w-4", 2, [], ["w-1", "w-2 w-3", "w-4"]],
    ["control planes first, one by one", "w-1 cp-1 w-2 cp-2", 3, [], ["cp-1", "cp-2", "w-1", "w-2"]],
    ["what an earlier run has begun first", "w-1 w-2 w-3", 1, ["w-3"], ["w-3", "w-1", "w-2"]],
    ["a control plane that was begun first", "cp-1 cp-2 w-1", 1, ["cp-2"], ["cp-2", "cp-1", "w-1"]],
  ])("go in batches: %s", (_, names, limit, begun, expected) => {
    expect(batches(names, limit, begun)).toEqual(expected);
  });

  test.each<[string, readonly string[], readonly string[]]>([
    ["last of the control planes", [], ["cp-2", "cp-3", "cp-1", "w-1"]],
    ["first where an earlier run has drained it", ["cp-1"], ["cp-1", "cp-2", "cp-3", "w-1"]],
  ])("the holder of the shared address goes %s", (_, begun, expected) => {
    expect(batches("cp-1 cp-2 cp-3 w-1", 1, begun, "cp-1")).toEqual(expected);
  });

  test("are each in one batch, never more workers than may be unavailable, control planes alone", () => {
    const machines = fc.uniqueArray(fc.tuple(fc.boolean(), fc.nat(40)), { selector: ([plane, n]) => `${plane}${n}` });
    fc.assert(
      fc.property(machines, fc.integer({ min: 1, max: 7 }), fc.array(fc.nat(40)), (picked, limit, begun) => {
        const all = picked.map(([plane, n]) => change(`${plane ? "cp" : "w"}-${n}`));
        const made = hardwareBatches({ changes: all, limit }, order(begun.map((n) => `w-${n}`)));
        expect(
          made
            .flat()
            .map(({ name }) => name)
            .sort(),
        ).toEqual(all.map(({ name }) => name).sort());
        for (const batch of made) {
          expect(batch.length).toBeGreaterThan(0);
          expect(batch.length).toBeLessThanOrEqual(batch.some(({ controlPlane }) => controlPlane) ? 1 : limit);
        }
      }),
    );
  });

  test.each<[string, number, string]>([
    ["w-1 w-2 w-3", 1, "w-1, w-2, w-3: hardware changes, one machine at a time"],
    ["w-1 w-2 w-3", 2, "w-1, w-2, w-3: hardware changes, up to 2 machines at a time"],
    ["cp-1 w-1", 4, "cp-1, w-1: hardware changes, one machine at a time"],
    ["cp-1 cp-2", 4, "cp-1, cp-2: hardware changes, one machine at a time"],
  ])("are named in one line: %s, limit %i", (names, limit, expected) => {
    expect(rolloutSentence({ changes: changes(names), limit })).toBe(
      `${expected} (drain, change, wait until ready, uncordon)`,
    );
  });

  test.each<[string, string]>([
    [
      "cp-1 cp-2 w-1",
      "cp-1, cp-2, w-1: hardware changes, one machine at a time, of the control planes the one with 10.0.0.5 last",
    ],
    ["cp-1 w-1", "cp-1, w-1: hardware changes, one machine at a time"],
  ])("the shared address is named where several control planes change: %s", (names, expected) => {
    expect(rolloutSentence({ changes: changes(names), limit: 1, vip: "10.0.0.5" })).toBe(
      `${expected} (drain, change, wait until ready, uncordon)`,
    );
  });

  test("control planes and workers have a line each where workers go side by side", () => {
    const lines = rolloutSentence({ changes: changes("cp-1 w-1 w-2"), limit: 2 }).split("\n");
    expect(lines.map((line) => line.replace(/ \(.*/, ""))).toEqual([
      "cp-1: hardware changes, one machine at a time",
      "w-1, w-2: hardware changes, up to 2 machines at a time",
    ]);
  });
});

describe("a plan that is made after the one that was shown", () => {
  const resource = (address: string, action: "update" | "replace", ...attributes: string[]) => ({
    address,
    type: address.split(".")[0] ?? "",
    action,
    name: address,
    attributes,
    replacedFor: [],
  });
  const danger = { level: "danger", title: "Data lost", address: "x", sentence: "This takes data." } as const;
  const shown = {
    resources: [
      resource("aws_instance.a", "update", "instance_type"),
      resource("talosmith_cluster.c", "update", "machines"),
    ],
    findings: [],
  };
  test.each<[string, Parameters<typeof refuseUnshown>[1], RegExp | undefined]>([
    ["a part of it", { resources: shown.resources.slice(0, 1), findings: [] }, undefined],
    [
      "other steps of the cluster",
      { resources: [resource("talosmith_cluster.c", "update", "machines", "steps")], findings: [] },
      undefined,
    ],
    [
      "another resource",
      { resources: [resource("aws_instance.b", "update", "instance_type")], findings: [] },
      /update aws_instance\.b/,
    ],
    [
      "another action",
      { resources: [resource("aws_instance.a", "replace", "instance_type")], findings: [] },
      /replace aws_instance\.a/,
    ],
    [
      "another attribute",
      { resources: [resource("aws_instance.a", "update", "tags")], findings: [] },
      /update aws_instance\.a/,
    ],
    ["a danger", { resources: [], findings: [danger] }, /This takes data/],
  ])("%s", (_, now, refused) => {
    // The cluster is no part of a batch.
    const targets = ["aws_instance.a"];
    if (now.resources.some(({ type }) => type === "talosmith_cluster"))
      expect(() => refuseUnshown(shown, now, targets)).toThrow(/update talosmith_cluster\.c/);
    if (refused === undefined) expect(() => refuseUnshown(shown, now)).not.toThrow();
    else expect(() => refuseUnshown(shown, now)).toThrow(refused);
  });

  test("of a batch alone has no members, so that its dangers say nothing", () => {
    const batch = { resources: shown.resources.slice(0, 1), findings: [danger] };
    expect(() => refuseUnshown(shown, batch, ["aws_instance.a"])).not.toThrow();
  });
});
