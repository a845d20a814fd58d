// SPDX-License-Identifier: Apache-2.0
import type { StepContext } from "../execute/step-context.ts";
import type { KubernetesNode } from "../observed.ts";
import { unavailableLimit } from "../policy.ts";
import { etcdView, survivesOutage } from "./quorum.ts";

/** Why the machine must not go down right now, by a fresh look: etcd's quorum, or too many workers away already. */
export async function outageObstacle(machine: string, context: StepContext): Promise<string | undefined> {
  if (context.target(machine).role === "worker") return workerObstacle(machine, context);
  const view = etcdView(await context.observeControlPlanes());
  if (view === undefined) return "no etcd member answers";
  return survivesOutage(view, machine) ? undefined : "etcd would lose its quorum without it; waiting for other members";
}

/** A worker that is unavailable already takes nothing more away. */
async function workerObstacle(machine: string, context: StepContext): Promise<string | undefined> {
  const { desired, policy, workers } = context;
  if (!policy.kubernetes) return undefined;
  const isAway = (node: KubernetesNode) => (desired.nodesBecomeReady && !node.ready) || node.cordonedByUs;
  // Asked for alone first: every look at a machine that is on its way down already would else list all the others.
  const own = await context.observeNode(machine);
  if (own.kind === "reachable" && own.node !== undefined && isAway(own.node)) return undefined;
  const kubernetes = own.kind === "unreachable" ? own : await context.observeKubernetes();
  if (kubernetes.kind === "unreachable") return `the Kubernetes API does not answer: ${kubernetes.reason}`;
  const away = kubernetes.nodes.filter((node) => isAway(node) && workers.has(node.name));
  if (away.some(({ name }) => name === machine) || away.length < unavailableLimit(policy, workers.size))
    return undefined;
  return `${away.map(({ name }) => name).join(", ")} ${away.length === 1 ? "is" : "are"} unavailable already`;
}
