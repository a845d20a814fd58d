// SPDX-License-Identifier: Apache-2.0
import { undefinedIf } from "../failures.ts";
import { kubeletFault } from "../health/unready.ts";
import { ClusterTaken } from "../lock/lock-file.ts";
import type { ConfiguredMachine, KubernetesNode, MachineState } from "../observed.ts";
import { bootstrapObstacle } from "../plan/first-contact.ts";
import { inService } from "../plan/machine-work.ts";
import { etcdView, survivesOutage } from "../plan/quorum.ts";
import { unavailableLimit, usesKubernetes } from "../policy.ts";
import { readSnapshot } from "../snapshot-file.ts";
import { reboots, type Step, type StepOf } from "../step.ts";
import type { StepContext } from "./step-context.ts";
import { attempt } from "./wait.ts";

/** At most once per cluster: looked at before, and the machine itself refuses when it has data. */
export async function bootstrapEtcd(step: Step, context: StepContext): Promise<void> {
  const target = context.target(step.machine);
  let begun = false;
  await context.until(step, async () => {
    const state = await context.inspect(step.machine);
    if (state.kind === "configured" && state.etcd?.state === "running" && state.etcd.members.length > 0)
      return undefined;
    if (begun) return describe(state, "waiting for etcd to start");
    if (state.kind !== "configured") return describe(state, "");
    const obstacle = await otherEtcd(step.machine, context);
    if (obstacle !== undefined) throw new ClusterTaken(obstacle);
    const refused = await attempt(async () => {
      // Another runner, or ourselves before a kill, has been faster: that is the state we want.
      await context.machines.bootstrap(target, context.signal).catch(undefinedIf("already-exists"));
      begun = true;
    });
    return refused ?? "waiting for etcd to start";
  });
}

/** Members elsewhere, seen at the last moment. Machines on their way up have been seen empty by the plan. */
async function otherEtcd(machine: string, context: StepContext): Promise<string | undefined> {
  const observed = await context.observeControlPlanes();
  const others = [...context.desired.machines, ...context.desired.leaving].filter(({ name }) => {
    const state = observed.machines.get(name)?.state;
    return (
      name !== machine && state?.kind === "configured" && state.etcd !== undefined && state.etcd.state !== "waiting"
    );
  });
  if (others.length === 0) return undefined;
  return bootstrapObstacle({ machines: [], leaving: others }, observed);
}

export async function joinEtcd(step: Step, context: StepContext): Promise<void> {
  await context.until(step, () => etcdReason(step.machine, context));
}

export async function joinKubernetes(step: Step, context: StepContext): Promise<void> {
  await context.until(step, () => kubernetesReason(step.machine, context));
}

/** Why the machine is not a healthy voter of etcd yet. */
export async function etcdReason(machine: string, context: StepContext): Promise<string | undefined> {
  const state = await context.inspect(machine);
  if (state.kind !== "configured") return describe(state, "");
  const { etcd } = state;
  if (etcd === undefined || etcd.state !== "running") return "waiting for etcd to start";
  const member = etcd.members.find(({ id }) => id === etcd.memberId);
  if (member === undefined) return "waiting for etcd to join the cluster";
  if (member.learner) return "waiting for etcd to promote the new member";
  return etcd.healthy ? undefined : "waiting for etcd to become healthy";
}

/** Why the machine is not a node of Kubernetes yet; a ready one, where nodes can become that. */
export async function kubernetesReason(machine: string, context: StepContext): Promise<string | undefined> {
  const observed = await context.observeNode(machine);
  if (observed.kind === "unreachable") return awaitedApi(observed.reason);
  const { node } = observed;
  if (node === undefined) return "waiting for the node to register";
  if (!inService(context.desired, node)) return notReadyYet(node);
  if (!context.desired.nodesBecomeReady) return undefined;
  const fault = kubeletFault(node, await context.machines.health(context.target(machine), context.signal));
  return fault && notReadyYet({ reason: fault });
}

/** An API server that does not listen yet is what is waited for; anything else is worth a word. */
function awaitedApi(reason: string): string {
  const words = "waiting for the Kubernetes API";
  return reason.endsWith("the connection was refused") ? words : `${words}: ${reason}`;
}

export function notReadyYet({ reason }: Pick<KubernetesNode, "reason">): string {
  return `waiting for the node to become ready${reason === undefined ? "" : `: ${reason}`}`;
}

/** Waits for a condition of a machine that has its config; until it has, that is what is missing. */
export async function untilConfigured(
  step: Step,
  context: StepContext,
  check: (state: ConfiguredMachine) => Promise<string | undefined>,
): Promise<void> {
  await context.until(step, async () => {
    const state = await context.inspect(step.machine);
    return state.kind === "configured" ? check(state) : describe(state, "", step);
  });
}

/** Why a machine is not where a step needs it. One that the step reboots is expected to be away for a while. */
export function describe(state: MachineState, otherwise: string, step?: Step): string {
  switch (state.kind) {
    case "unreachable":
      return step !== undefined && reboots(step) ? "rebooting" : `not reachable: ${state.reason}`;
    case "foreign":
      return `another cluster's machine answers there: ${state.reason}`;
    case "maintenance":
      return "in maintenance mode";
    case "configured":
      return otherwise === "" ? describeStage(state) : otherwise;
  }
}

function describeStage({ stage, unmet }: ConfiguredMachine): string {
  return unmet.length === 0 ? stage : `${stage}: ${unmet.map(({ name, reason }) => `${name}: ${reason}`).join("; ")}`;
}

/** The machine keeps its config and loses its data, so that its etcd waits to be started or to join. */
export async function wipeEtcd(step: Step, context: StepContext): Promise<void> {
  const target = context.target(step.machine);
  let wipedFrom: string | undefined;
  await untilConfigured(step, context, async (state) => {
    if (state.etcd?.state === "waiting" && state.bootId !== wipedFrom && state.stage !== "resetting") return undefined;
    if (wipedFrom !== undefined) return describe(state, "wiping data, rebooting");
    const refused = await attempt(() => context.machines.wipeData(target, context.signal));
    if (refused === undefined) wipedFrom = state.bootId;
    return refused ?? "wiping data, rebooting";
  });
}

/** Uploads the snapshot and starts etcd from it. A machine that has members already has been restored before. */
export async function restoreEtcd(step: StepOf<"restore-etcd">, context: StepContext): Promise<void> {
  const target = context.target(step.machine);
  let begun = false;
  await untilConfigured(step, context, async (state) => {
    if (state.etcd?.state === "running" && state.etcd.members.length > 0) return undefined;
    if (begun) return describe(state, "restoring etcd from the snapshot");
    const refused = await attempt(async () => {
      // The answer to an earlier attempt was lost, and etcd is starting.
      const restoring = context.machines.restore(target, readSnapshot(step.snapshot), context.signal);
      await restoring.catch(undefinedIf("already-exists"));
      begun = true;
    });
    return refused ?? "restoring etcd from the snapshot";
  });
}

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
  if (!usesKubernetes(policy)) return undefined;
  const isAway = (node: KubernetesNode) => (desired.nodesBecomeReady && !node.ready) || node.cordonedByUs;
  // Asked for alone first: each check of a machine that is shutting down would otherwise list all the others.
  const own = await context.observeNode(machine);
  if (own.kind === "reachable" && own.node !== undefined && isAway(own.node)) return undefined;
  const kubernetes = own.kind === "unreachable" ? own : await context.observeKubernetes();
  if (kubernetes.kind === "unreachable") return `the Kubernetes API does not answer: ${kubernetes.reason}`;
  const away = kubernetes.nodes.filter((node) => isAway(node) && workers.has(node.name));
  if (away.some(({ name }) => name === machine) || away.length < unavailableLimit(policy, workers.size))
    return undefined;
  return `${away.map(({ name }) => name).join(", ")} ${away.length === 1 ? "is" : "are"} unavailable already`;
}
