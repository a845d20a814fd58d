// SPDX-License-Identifier: Apache-2.0
import type { Kubernetes } from "../machines.ts";
import type { ObservedNode } from "../observed.ts";

/**
 * Lets many callers share one slow question. Nobody gets an answer from before they asked: callers that come while one
 * is on its way share the next.
 */
export function singleFlight<T>(ask: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  let next: Promise<T> | undefined;
  const start = (): Promise<T> => {
    const started = ask().finally(() => {
      if (running === started) running = undefined;
    });
    running = started;
    return started;
  };
  return () => {
    // Between the end of one and the start of the next, `running` is empty while callers wait already.
    if (next !== undefined) return next;
    if (running === undefined) return start();
    const settled = running.then(
      () => undefined,
      () => undefined,
    );
    next = settled.then(() => {
      next = undefined;
      return start();
    });
    return next;
  };
}

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
