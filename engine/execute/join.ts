// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../../talos/errors.ts";
import { ClusterTaken } from "../lock/cluster-taken.ts";
import type { ConfiguredMachine, MachineState } from "../observed.ts";
import { inService } from "../plan/machine-work.ts";
import { bootstrapObstacle } from "../plan/plan-bootstrap.ts";
import type { Step } from "../step.ts";
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
      try {
        await context.machines.bootstrap(target, context.signal);
      } catch (error) {
        // Another runner, or ourselves before a kill, has been faster: that is the state we want.
        if (!(error instanceof TalosError) || error.code !== "already-exists") throw error;
      }
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
  return node !== undefined ? "its Kubernetes node is not ready yet" : "its Kubernetes node has not registered yet";
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
