// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import type { Step } from "../../../engine/index.ts";
import { refuseUnplanned } from "../../../provider/types/cluster/cluster.ts";

const step = (kind: string, machine: string, destructive: boolean): Step =>
  ({
    kind,
    machine,
    id: `${kind}/${machine}`,
    sentence: `${kind} ${machine}`,
    after: [],
    destructive,
  }) as unknown as Step;

test.each<[string, readonly string[], readonly string[], readonly Step[], boolean]>([
  ["harmless steps that nobody planned", [], [], [step("join-etcd", "cp-1", false)], true],
  ["a wipe that was planned", ["1. reset w-1"], [], [step("reset", "w-1", true)], true],
  ["a wipe that nobody planned", ["1. drain w-1"], [], [step("reset", "w-1", true)], false],
  ["a machine that the plan takes out", [], ["w-1"], [step("reset", "w-1", true)], true],
  ["another machine than the planned one", ["1. reset w-1"], [], [step("reset", "w-2", true)], false],
])("%s: may be done: %#", (_, planned, expected, steps, allowed) => {
  const review = refuseUnplanned(planned, expected);
  if (allowed) expect(() => review(steps)).not.toThrow();
  else expect(() => review(steps)).toThrow("Not what was planned");
});

test("what follows from a planned loss in a later round may be done too", () => {
  const review = refuseUnplanned(["1. remove-etcd-member cp-2"], []);
  review([step("remove-etcd-member", "cp-2", true)]);
  expect(() => review([step("delete-node", "cp-2", true)])).not.toThrow();
  expect(() => review([step("delete-node", "cp-3", true)])).toThrow("delete-node cp-3");
});
