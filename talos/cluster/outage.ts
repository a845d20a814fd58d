// SPDX-License-Identifier: Apache-2.0
import { unavailableLimit } from "./policy.ts";
import { etcdView, survivesOutage } from "./quorum.ts";
import type { StepContext } from "./step-context.ts";

/** Why the machine must not go down right now, by a fresh look: etcd's quorum, or too many workers away already. */
export async function outageObstacle(machine: string, context: StepContext): Promise<string | undefined> {
  if (context.target(machine).role === "worker") return workerObstacle(machine, context);
  const view = etcdView(await context.observeControlPlanes(), machine);
  if (view === undefined) return "no etcd member answers";
  return survivesOutage(view, machine) ? undefined : "etcd would lose its quorum without it; waiting for other members";
}

/** A worker that is unavailable already takes nothing more away. */
async function workerObstacle(machine: string, context: StepContext): Promise<string | undefined> {
  const { desired, policy } = context;
  if (!policy.kubernetes) return undefined;
  const kubernetes = await context.observeKubernetes();
  if (kubernetes.kind === "unreachable") return `the Kubernetes API does not answer: ${kubernetes.reason}`;
  // Every waiting worker looks here again and again: a list would make a thousand of them a million comparisons a look.
  const workers = new Set(desired.machines.flatMap(({ name, role }) => (role === "worker" ? [name] : [])));
  const nodes = kubernetes.nodes.filter(({ name }) => workers.has(name));
  const away = nodes.filter((node) => (desired.nodesBecomeReady && !node.ready) || node.cordonedByUs);
  const others = away.filter(({ name }) => name !== machine);
  if (others.length < away.length || others.length < unavailableLimit(policy, workers.size)) return undefined;
  return `${others.map(({ name }) => name).join(", ")} ${others.length === 1 ? "is" : "are"} unavailable already`;
}
