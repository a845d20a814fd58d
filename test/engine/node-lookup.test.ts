// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import type { KubernetesNode } from "../../engine/index.ts";
import { nodeLookup } from "../../engine/observe/single-flight.ts";
import { defaultPolicy } from "../../engine/policy.ts";
import { lab, wish } from "./fixture.ts";

const node = (name: string, ready = true): KubernetesNode => ({
  name,
  ready,
  unschedulable: false,
  cordonedByUs: false,
  controlPlane: false,
  addresses: [],
  kubeletVersion: "v1.36.3",
});

/** A Kubernetes API with these nodes, and what it was asked for. */
function api(nodes: readonly KubernetesNode[]) {
  const calls: string[] = [];
  const state = { nodes };
  return {
    calls,
    state,
    async observe() {
      calls.push("all");
      return { kind: "reachable", nodes: state.nodes } as const;
    },
    async observeNode(name: string) {
      calls.push(name);
      return { kind: "reachable", node: state.nodes.find((one) => one.name === name) } as const;
    },
  };
}

test("a few nodes are asked for by name, and one that has not registered is told", async () => {
  const kubernetes = api([node("w-1"), node("w-2")]);
  const look = nodeLookup(kubernetes);
  const answers = await Promise.all(["w-1", "w-2", "w-3"].map(look));
  expect(answers).toEqual([
    { kind: "reachable", node: node("w-1") },
    { kind: "reachable", node: node("w-2") },
    { kind: "reachable", node: undefined },
  ]);
  expect(kubernetes.calls).toEqual(["w-1", "w-2", "w-3"]);
});

test("many at once share one list", async () => {
  const names = Array.from({ length: 100 }, (_, index) => `w-${index}`);
  const kubernetes = api(names.slice(1).map((name) => node(name)));
  const answers = await Promise.all(names.map(nodeLookup(kubernetes)));
  expect(answers[0]).toEqual({ kind: "reachable", node: undefined });
  expect(answers.slice(1)).toEqual(names.slice(1).map((name) => ({ kind: "reachable", node: node(name) })));
  expect(kubernetes.calls).toEqual(["w-0", "all"]);
});

test("nobody gets an answer from before they asked", async () => {
  const kubernetes = api([node("w-1", false)]);
  const look = nodeLookup(kubernetes);
  const early = look("w-1");
  kubernetes.state.nodes = [node("w-1", true)];
  expect([await early, await look("w-1")]).toEqual([
    { kind: "reachable", node: node("w-1", false) },
    { kind: "reachable", node: node("w-1", true) },
  ]);
});

test("a registered node is never told to be missing, whenever others ask", async () => {
  for (let ticks = 0; ticks < 8; ticks++) {
    const look = nodeLookup(api([node("w-1"), node("w-2"), node("w-3")]));
    const answers = [look("w-1"), look("w-2")];
    for (let tick = 0; tick < ticks; tick++) await undefined;
    answers.push(look("w-3"));
    const names = (await Promise.all(answers)).map((answer) => answer.kind === "reachable" && answer.node?.name);
    expect(names).toEqual(["w-1", "w-2", "w-3"]);
  }
});

test("an API that does not answer is an answer, to a few and to many", async () => {
  const silent = { kind: "unreachable", reason: "connection refused" } as const;
  const look = nodeLookup({ observe: async () => silent, observeNode: async () => silent });
  expect(await look("w-1")).toEqual(silent);
  const names = Array.from({ length: 50 }, (_, index) => `w-${index}`);
  expect(new Set(await Promise.all(names.map(look)))).toEqual(new Set([silent]));
});

test.each([
  { change: "Talos", before: { talos: "v1.13.0" }, most: 2 * 43 },
  { change: "Kubernetes", before: { talos: "v1.13.0", kubernetes: "1.36.2" }, after: { talos: "v1.13.0" }, most: 12 },
])("a rollout of $change does not list all nodes again and again while it waits for one", async (rollout) => {
  const names = (prefix: string, count: number) =>
    Array.from({ length: count }, (_, index) => `${prefix}-${index + 1}`);
  const machines = { controlPlanes: names("cp", 3), workers: names("w", 40) };
  const made = lab(wish(machines));
  made.world.maxUnavailable = 10;
  for (const machine of made.world.machines.values()) machine.version = "v1.13.0";
  await made.apply(wish({ ...machines, ...rollout.before }));
  const port = made.world.port();
  let lists = 0;
  const observe = port.kubernetes.observe.bind(port.kubernetes);
  const counted = {
    ...port.kubernetes,
    observe: () => {
      lists++;
      return observe();
    },
  };
  const options = { machines: { ...port, kubernetes: counted }, policy: { ...defaultPolicy, maxUnavailable: 10 } };
  await made.apply(wish({ ...machines, ...rollout.after }), options);
  expect(made.world.violations).toEqual([]);
  expect(lists).toBeLessThan(rollout.most);
});
