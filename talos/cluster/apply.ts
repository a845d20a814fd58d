// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../errors.ts";
import { kubeconfigFrom } from "./client-files.ts";
import { type EngineOptions, withContext } from "./engine.ts";
import { describe } from "./execute-join.ts";
import type { ObservedCluster } from "./observed.ts";
import { plan } from "./plan.ts";
import { configured } from "./quorum.ts";
import { runSteps } from "./run.ts";
import type { Step } from "./step.ts";
import type { StepContext } from "./step-context.ts";
import { waitUntil } from "./wait.ts";

export type ApplyOptions = EngineOptions;

export interface ApplyResult {
  /** What was done, in the order of its planning; empty when the cluster was as it should be. */
  readonly steps: readonly Step[];
  /** The admin kubeconfig, YAML. Secret. */
  readonly kubeconfig: string;
}

/** A plan that keeps coming back means that our picture of the world is wrong; better to say so than to loop. */
const mostRounds = 10;

/**
 * Takes a cluster from whatever it is to what it should be: looks, plans, does, and looks again, until nothing is left
 * to do and everything is healthy. May be killed anywhere and run again.
 */
export async function applyCluster(options: ApplyOptions): Promise<ApplyResult> {
  return withContext(options, async (context) => {
    const done: Step[] = [];
    for (let round = 0; ; round++) {
      const observed = await observeAll(context);
      const steps = plan(context.desired, observed, context.policy);
      if (round === 0 || steps.length > 0) announce(steps, context);
      if (steps.length === 0) {
        refuseUnfinished(context, observed);
        break;
      }
      if (round === mostRounds) {
        throw new TalosError("internal", `the same work keeps coming back: ${steps.map(({ id }) => id).join(", ")}`);
      }
      await runSteps(steps, context);
      done.push(...steps);
    }
    if (context.policy.kubernetes) await awaitEndpoint(context);
    const kubeconfig = await kubeconfigFrom(context);
    context.emit({ type: "healthy", message: `cluster ${context.desired.name} is as it should be` });
    return { steps: done, kubeconfig };
  });
}

/** Every desired machine must answer before a plan is made; those of others are refused at once. */
async function observeAll(context: StepContext): Promise<ObservedCluster> {
  let observed = await context.observe();
  await waitUntil(
    async () => {
      observed = await context.observe();
      const silent = context.desired.machines.flatMap((machine) => {
        const state = observed.machines.get(machine.name)?.state ?? { kind: "unreachable", reason: "not observed" };
        if (state.kind === "foreign") throw foreign(machine.name, state.reason);
        return state.kind === "unreachable" ? [`${machine.name}: ${describe(state, "")}`] : [];
      });
      return silent.length === 0 ? undefined : silent.join("; ");
    },
    {
      timing: context.timing,
      ...(context.signal === undefined ? {} : { signal: context.signal }),
      timeout: context.timeouts.reachable,
      what: "look at every machine",
      onWaiting: (message) => context.emit({ type: "waiting", message }),
    },
  );
  context.emit({ type: "observed", message: `looked at ${observed.machines.size} machines` });
  return observed;
}

/** Nothing was planned for a machine that should leave: then leaving would cost the quorum. */
function refuseUnfinished({ desired }: StepContext, observed: ObservedCluster): void {
  const stuck = desired.leaving.filter(({ name }) => configured(observed.machines.get(name)) !== undefined);
  if (stuck.length === 0) return;
  const names = stuck.map(({ name }) => name).join(", ");
  throw new TalosError("failed-precondition", `${names} cannot leave: etcd would lose its quorum`, {
    hint: "Heal or replace the other control planes first; a member may leave when the rest keeps a majority.",
  });
}

async function awaitEndpoint(context: StepContext): Promise<void> {
  await waitUntil(() => context.machines.kubernetes.notReadyReason(context.signal), {
    timing: context.timing,
    ...(context.signal === undefined ? {} : { signal: context.signal }),
    timeout: context.timeouts.health,
    what: `wait for the Kubernetes API at ${context.desired.endpoint}`,
    onWaiting: (message) => context.emit({ type: "waiting", message }),
  });
}

function announce(steps: readonly Step[], context: StepContext): void {
  const count = steps.length === 1 ? "1 step" : `${steps.length} steps`;
  context.emit({ type: "planned", message: steps.length === 0 ? "nothing to do" : `${count} to do`, steps });
}

function foreign(machine: string, reason: string): TalosError {
  return new TalosError("failed-precondition", `${machine} belongs to another cluster: ${reason}`, {
    node: machine,
    hint: "Check the address, and that these are the secrets this machine was set up with. To use it here, reset it with its own credentials first.",
  });
}
