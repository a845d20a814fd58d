// SPDX-License-Identifier: Apache-2.0
import type { Kubernetes } from "../machines.ts";
import type { ObservedNode } from "../observed.ts";
import { singleFlight } from "./single-flight.ts";

/** From here on one list of all is cheaper than one question for each. */
const many = 16;

/**
 * Looks at single nodes. A rollout waits for a few of perhaps a thousand, and lists of them all would grow with the
 * square of their number; a new cluster waits for all at once, and one list answers them. Nobody gets an answer from
 * before they asked.
 */
export function nodeLookup(
  kubernetes: Pick<Kubernetes, "observe" | "observeNode">,
  signal?: AbortSignal,
): (name: string) => Promise<ObservedNode> {
  let asked = new Set<string>();
  const ask = singleFlight(async () => {
    const names = asked;
    asked = new Set();
    return names.size < many ? oneByOne(names, kubernetes, signal) : allAtOnce(kubernetes, signal);
  });
  return async (name) => {
    asked.add(name);
    const answer = await ask();
    return answer(name);
  };
}

type Answer = (name: string) => ObservedNode;

const unknown: ObservedNode = { kind: "reachable", node: undefined };

async function oneByOne(
  names: ReadonlySet<string>,
  kubernetes: Pick<Kubernetes, "observeNode">,
  signal?: AbortSignal,
): Promise<Answer> {
  const nodes = new Map<string, ObservedNode>();
  await Promise.all([...names].map(async (name) => nodes.set(name, await kubernetes.observeNode(name, signal))));
  return (name) => nodes.get(name) ?? unknown;
}

async function allAtOnce(kubernetes: Pick<Kubernetes, "observe">, signal?: AbortSignal): Promise<Answer> {
  const observed = await kubernetes.observe(signal);
  if (observed.kind === "unreachable") return () => observed;
  const nodes = new Map(observed.nodes.map((node) => [node.name, node]));
  return (name) => ({ kind: "reachable", node: nodes.get(name) });
}
