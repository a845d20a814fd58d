// SPDX-License-Identifier: Apache-2.0
import { undefinedIf } from "../failures.ts";
import { ClusterTaken } from "../lock/lock-file.ts";
import type { ConfiguredMachine, KubernetesNode, MachineState } from "../observed.ts";
import { bootstrapObstacle } from "../plan/first-contact.ts";
import { inService } from "../plan/machine-work.ts";
import { etcdView, survivesOutage } from "../plan/quorum.ts";
import { unavailableLimit } from "../policy.ts";
import { readSnapshot } from "../snapshot-file.ts";
import type { Step, StepOf } from "../step.ts";
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
    if (begun) return describe(state, "etcd is starting");
    if (state.kind !== "configured") return describe(state, "");
    const obstacle = await otherEtcd(step.machine, context);
    if (obstacle !== undefined) throw new ClusterTaken(obstacle);
    const refused = await attempt(async () => {
      // Another runner, or ourselves before a kill, has been faster: that is the state we want.
      await context.machines.bootstrap(target, context.signal).catch(undefinedIf("already-exists"));
      begun = true;
    });
    return refused ?? "etcd is starting";
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
  if (etcd === undefined || etcd.state !== "running") return "etcd is not running yet";
  const member = etcd.members.find(({ id }) => id === etcd.memberId);
  if (member === undefined) return "it is not an etcd member yet";
  if (member.learner) return "its etcd member is still learning";
  return etcd.healthy ? undefined : "its etcd is not healthy yet";
}

/** Why the machine is not a node of Kubernetes yet; a ready one, where nodes can become that. */
export async function kubernetesReason(machine: string, context: StepContext): Promise<string | undefined> {
  const observed = await context.observeNode(machine);
  if (observed.kind === "unreachable") return `the Kubernetes API does not answer yet: ${observed.reason}`;
  const { node } = observed;
  if (inService(context.desired, node)) return undefined;
  if (node === undefined) return "its Kubernetes node has not registered yet";
  return notReadyYet(node);
}

export function notReadyYet({ reason }: KubernetesNode): string {
  return `its Kubernetes node is not ready yet${reason === undefined ? "" : `: ${reason}`}`;
}

/** Waits for a condition of a machine that has its config; until it has, that is what is missing. */
export async function untilConfigured(
  step: Step,
  context: StepContext,
  check: (state: ConfiguredMachine) => Promise<string | undefined>,
): Promise<void> {
  await context.until(step, async () => {
    const state = await context.inspect(step.machine);
    return state.kind === "configured" ? check(state) : describe(state, "");
  });
}

/** Why a machine is not where a step needs it. */
export function describe(state: MachineState, otherwise: string): string {
  switch (state.kind) {
    case "unreachable":
      return `it does not answer: ${state.reason}`;
    case "foreign":
      return `another cluster's machine answers there: ${state.reason}`;
    case "maintenance":
      return "it is in maintenance mode";
    case "configured":
      return otherwise === "" ? describeStage(state) : otherwise;
  }
}

function describeStage({ stage, unmet }: ConfiguredMachine): string {
  return unmet.length === 0
    ? `it is ${stage}`
    : `it is ${stage}: ${unmet.map(({ name, reason }) => `${name}: ${reason}`).join("; ")}`;
}

/** The machine keeps its config and loses its data, so that its etcd waits to be started or to join. */
export async function wipeEtcd(step: Step, context: StepContext): Promise<void> {
  const target = context.target(step.machine);
  let wipedFrom: string | undefined;
  await untilConfigured(step, context, async (state) => {
    if (state.etcd?.state === "waiting" && state.bootId !== wipedFrom && state.stage !== "resetting") return undefined;
    if (wipedFrom !== undefined) return describe(state, "it wipes its data and reboots");
    const refused = await attempt(() => context.machines.wipeData(target, context.signal));
    if (refused === undefined) wipedFrom = state.bootId;
    return refused ?? "it wipes its data and reboots";
  });
}

/** Uploads the snapshot and starts etcd from it. A machine that has members already has been restored before. */
export async function restoreEtcd(step: StepOf<"restore-etcd">, context: StepContext): Promise<void> {
  const target = context.target(step.machine);
  let begun = false;
  await untilConfigured(step, context, async (state) => {
    if (state.etcd?.state === "running" && state.etcd.members.length > 0) return undefined;
    if (begun) return describe(state, "etcd starts from the snapshot");
    const refused = await attempt(async () => {
      // The answer to an earlier attempt was lost, and etcd is starting.
      const restoring = context.machines.restore(target, readSnapshot(step.snapshot), context.signal);
      await restoring.catch(undefinedIf("already-exists"));
      begun = true;
    });
    return refused ?? "etcd starts from the snapshot";
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
  if (!policy.kubernetes) return undefined;
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
