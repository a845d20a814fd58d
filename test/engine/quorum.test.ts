// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import type { MachineEtcd, MachineStage } from "../../engine/observed.ts";
import {
  configured,
  type EtcdView,
  etcdView,
  holdsSilentEtcd,
  nodeOf,
  quorumOf,
  survivesOutage,
  survivesRemoval,
  withoutMember,
} from "../../engine/plan/quorum.ts";
import { type Difference, empty, found, memberOf, unreachable } from "./found.ts";
import { wish } from "./wish.ts";

const words = (text: string) => text.split(" ").filter((word) => word !== "");
/** Members as in `found`; those that are ill have a `!` behind them. */
function view(text: string): EtcdView {
  const names = words(text);
  const members = names.map((word) => memberOf(word.replace("!", "")));
  const healthy = names.filter((word) => !/[~!]/.test(word)).map((name) => `id-${name}`);
  return { members, leaderId: "id-a", healthy: new Set(healthy) };
}
const seen = (difference?: Difference) => etcdView(found(wish(), difference));

describe("the quorum", () => {
  test.each([
    [1, 1],
    [2, 2],
    [3, 2],
    [4, 3],
    [5, 3],
    [6, 4],
    [7, 4],
  ])("of %i voters is %i", (voters, quorum) => {
    expect(quorumOf(voters)).toBe(quorum);
  });

  test.each([
    ["a", "a", true],
    ["a!", "a", true],
    ["a b", "a", false],
    ["a b c", "a", true],
    ["a b c!", "a", false],
    ["a b c!", "c", true],
    ["a b c d", "a", true],
    ["a b c d!", "a", false],
    ["a b c d e!", "a", true],
    ["a b c d! e!", "a", false],
    ["a b c d! e!", "d", true],
    ["a b ~c", "a", false],
    ["a ~b ~c", "a", true],
    ["a b c ~d", "d", true],
    ["a b! c", "x", true],
  ])("of %s lives on while %s is down: %s", (members, machine, lives) => {
    expect(survivesOutage(view(members), machine)).toBe(lives);
  });

  test.each([
    ["a", "a", false],
    ["a ~b", "a", false],
    ["a ~b", "b", true],
    ["a b", "a", true],
    ["a b!", "b", false],
    ["a b c", "a", true],
    ["a b c!", "c", true],
    ["a b c!", "a", false],
    ["a b! c!", "c", false],
    ["a b c d!", "d", true],
    ["a b c d!", "a", true],
    ["a b c! d!", "d", false],
    ["a b c d! e!", "e", true],
    ["a b c d! e!", "a", false],
  ])("of %s lets %s go for good: %s", (members, machine, lets) => {
    expect(survivesRemoval(view(members), machine)).toBe(lets);
  });
});

describe("etcd of a cluster as it is seen", () => {
  const etcd = (part: Partial<MachineEtcd>): MachineEtcd => ({
    state: "running",
    healthy: true,
    members: ["cp-1", "cp-2", "cp-3"].map(memberOf),
    ...part,
  });
  const ids = (names: string) => new Set(words(names).map((name) => `id-${name}`));

  test("has its members, who leads, and who is well", () => {
    expect(seen()).toEqual({
      members: ["cp-1", "cp-2", "cp-3"].map(memberOf),
      leaderId: "id-cp-1",
      healthy: ids("cp-1 cp-2 cp-3"),
    });
  });

  test.each<[string, Difference, string]>([
    ["who does not answer", { machines: { "cp-2": unreachable } }, "cp-1 cp-3"],
    ["who says so", { machines: { "cp-2": { etcd: etcd({ healthy: false, memberId: "id-cp-2" }) } } }, "cp-1 cp-3"],
    [
      "whose etcd is down",
      { machines: { "cp-2": { etcd: etcd({ state: "down", memberId: "id-cp-2" }) } } },
      "cp-1 cp-3",
    ],
    ["who only learns", { members: ["cp-1", "~cp-2", "cp-3"] }, "cp-1 cp-3"],
    ["whom nobody knows", { members: ["cp-1", "cp-3"] }, "cp-1 cp-3"],
    ["who knows nobody", { machines: { "cp-2": { etcd: etcd({ memberId: "id-cp-2", members: [] }) } } }, "cp-1 cp-3"],
  ])("does not count on a member %s", (_, difference, names) => {
    expect(seen(difference)?.healthy).toEqual(ids(names));
  });

  test.each<[MachineStage, boolean]>([
    ["running", true],
    ["booting", true],
    ["rebooting", false],
    ["upgrading", false],
    ["resetting", false],
    ["shutting down", false],
    ["installing", false],
  ])("counts on a machine that is %s: %s", (stage, counts) => {
    expect(seen({ machines: { "cp-2": { stage } } })?.healthy.has("id-cp-2")).toBe(counts);
  });

  test.each<[string, Difference]>([
    ["a cordon", { nodes: { "cp-2": { unschedulable: true } } }],
    ["a cordon of talosmith", { nodes: { "cp-2": { unschedulable: true, cordonedByUs: true } } }],
    ["a Kubernetes API that does not answer", { kubernetes: "unreachable" }],
  ])("is not weakened by %s", (_, difference) => {
    expect(seen(difference)?.healthy).toEqual(ids("cp-1 cp-2 cp-3"));
  });

  test("is not there where no member tells of any", () => {
    const none = etcd({ members: [] });
    expect(seen({ machines: { "cp-1": { etcd: none }, "cp-2": { etcd: none }, "cp-3": unreachable } })).toBeUndefined();
  });

  test.each<[string, Partial<MachineEtcd>, Partial<MachineEtcd>, string]>([
    ["who knows a leader", {}, { leaderId: "id-cp-2" }, "id-cp-2"],
    ["who knows a leader, though the other knows more", { leaderId: "0" }, { leaderId: "id-cp-2" }, "id-cp-2"],
    ["who stands first, of equals", { leaderId: "id-cp-1" }, { leaderId: "id-cp-2" }, "id-cp-1"],
    [
      "who knows more members, of those with a leader",
      { leaderId: "id-cp-1", members: [memberOf("cp-1")] },
      { leaderId: "id-cp-2", members: ["cp-1", "cp-2"].map(memberOf) },
      "id-cp-2",
    ],
  ])("is what the member says %s", (_, first, second, leader) => {
    const machines = { "cp-1": { etcd: etcd(first) }, "cp-2": { etcd: etcd(second) }, "cp-3": unreachable };
    const got = seen({ machines });
    expect(got?.leaderId).toBe(leader);
    expect(got?.members).toEqual((leader === "id-cp-1" ? etcd(first) : etcd(second)).members);
  });

  test.each<[string, boolean, MachineEtcd["state"] | undefined, boolean]>([
    ["its own is down", false, "down", true],
    ["another member answers", true, "down", false],
    ["it has never run", false, "waiting", false],
    ["it is no control plane", false, undefined, false],
  ])("may need a machine's data to come back: %s", (_, answers, state, needed) => {
    const etcd = state === undefined ? {} : { etcd: { state, healthy: false, members: [] } };
    expect(holdsSilentEtcd(answers ? view("a b c") : undefined, etcd)).toBe(needed);
  });

  test("without a member has neither it nor its lead nor its health", () => {
    expect(withoutMember(view("a b c"), "id-a")).toEqual({
      members: [memberOf("b"), memberOf("c")],
      leaderId: undefined,
      healthy: ids("b c"),
    });
    expect(withoutMember(view("a b"), "id-b")).toEqual({
      members: [memberOf("a")],
      leaderId: "id-a",
      healthy: ids("a"),
    });
  });

  test("is told by machines with a config only", () => {
    expect(configured(undefined)).toBeUndefined();
    expect(configured(found(wish(), { machines: { "cp-1": empty } }).machines.get("cp-1"))).toBeUndefined();
    expect(configured(found(wish()).machines.get("cp-1"))?.kind).toBe("configured");
  });

  test("stands beside the nodes of Kubernetes, where that answers", () => {
    expect(nodeOf(found(wish()), "w-1")?.name).toBe("w-1");
    expect(nodeOf(found(wish()), "w-9")).toBeUndefined();
    expect(nodeOf(found(wish(), { kubernetes: "unreachable" }), "w-1")).toBeUndefined();
  });
});
