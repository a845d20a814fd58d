// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../talos/errors.ts";
import { given } from "../talos/given.ts";
import type { DesiredCluster } from "./desired.ts";
import { type EngineOptions, kubeconfigFrom, withContext, withExclusiveContext } from "./engine.ts";
import type { Finding } from "./events.ts";
import { runSteps } from "./execute/run.ts";
import type { StepContext } from "./execute/step-context.ts";
import { checkHealthIn } from "./health/health.ts";
import { beginClaim, recordOwner } from "./lock/ownership.ts";
import type { ObservedCluster } from "./observed.ts";
import { plan } from "./plan/plan.ts";
import { pauseIds } from "./plan/plan-caution.ts";
import { preflight, refuseErrors } from "./plan/preflight.ts";
import { clockFindings, goneApiFindings, returnedFindings } from "./plan/preflight-live.ts";
import { configured, nodeOf } from "./plan/quorum.ts";
import { usesKubernetes } from "./policy.ts";
import type { Step } from "./step.ts";

export interface ApplyOptions extends EngineOptions {
  /** Work between the last step and the wait for health, which needs it. */
  readonly beforeHealth?: (context: StepContext) => Promise<void>;
}

export interface ApplyResult {
  /** What was done, in the order of its planning; empty when the cluster was as it should be. */
  readonly steps: readonly Step[];
  /** The admin kubeconfig, YAML. Secret. */
  readonly kubeconfig: string;
  /** How often the cluster was applied, this time included; undefined where that is not counted. */
  readonly applies?: number;
}

/** A plan that keeps coming back means that our picture of the world is wrong; better to say so than to loop. */
const mostRounds = 10;

/**
 * Takes a cluster from whatever it is to what it should be: looks, plans, does, and looks again, until nothing is left
 * to do and everything is healthy. May be killed anywhere and run again.
 */
export function applyCluster(options: ApplyOptions): Promise<ApplyResult> {
  return withExclusiveContext(options, "apply the desired configuration", async (context) => {
    const result = await applyIn(context, options);
    const { claim } = options;
    // Workers of another state's cluster were entered before, and do not count its applies.
    if (claim === undefined || claim.joins || claim.onlyCheck) return result;
    const recorded = await recordOwner(context, claim);
    return recorded === undefined ? result : { ...result, applies: recorded.applies };
  });
}

export async function applyIn(
  context: StepContext,
  { review, claim, beforeHealth }: Pick<ApplyOptions, "review" | "claim" | "beforeHealth"> = {},
): Promise<ApplyResult> {
  const done: Step[] = [];
  const seen = new Set<string>();
  for (let round = 0; ; round++) {
    const observed = await observeAll(context);
    if (round === 0) await beginClaim(context, observed, claim);
    const isNew = seesNew(observed, seen);
    if (isNew)
      report(context, [
        ...preflight(context.desired, observed),
        ...(await clockFindings(context, observed)),
        ...(await returnedFindings(context, observed)),
      ]);
    const steps = plan(context.desired, observed, context.policy);
    if (isNew) report(context, await goneApiFindings(context, steps));
    if (round === 0 || steps.length > 0) announce(steps, context);
    if (steps.length === 0) {
      refuseUnfinished(context, observed);
      await endPauses(context);
      break;
    }
    if (round === mostRounds) {
      throw new TalosError("internal", `the same work keeps coming back: ${steps.map(({ id }) => id).join(", ")}`);
    }
    review?.(steps);
    await runSteps(steps, context);
    done.push(...steps);
  }
  await beforeHealth?.(context);
  await awaitHealth(context);
  if (usesKubernetes(context.policy)) await awaitEndpoint(context);
  const kubeconfig = await kubeconfigFrom(context);
  context.emit({ type: "healthy", message: `cluster ${context.desired.name} is healthy and up to date` });
  return { steps: done, kubeconfig };
}

/** What was agreed to for this change does not count for the next time that the same is wished for. */
async function endPauses(context: StepContext): Promise<void> {
  if (context.policy.canary === undefined) return;
  for (const id of pauseIds(context.desired)) {
    if (await context.wasAccepted({ id })) await context.record({ id }, "finished");
  }
}

/** True when a machine answers that did not before: it may bring bad news. */
function seesNew(observed: ObservedCluster, seen: Set<string>): boolean {
  const before = seen.size;
  for (const { name, state } of observed.machines.values()) if (state.kind !== "unreachable") seen.add(name);
  return seen.size > before;
}

/**
 * Every desired machine must answer before a plan is made, with one exception: before the first control plane is up, a
 * worker that has its config already cannot get its certificate and is silent.
 */
export async function observeAll(context: StepContext): Promise<ObservedCluster> {
  const { timing, timeouts } = context;
  const known = await context.configuredBefore();
  const begun = timing.elapsed();
  let last: ObservedCluster | undefined;
  let booting: readonly SilentMachine[] = [];
  const look = async () => {
    const observed = await context.observe();
    last = observed;
    const silent = silentMachines(context.desired, observed);
    // Never part of the cluster, as far as it and this project know.
    booting = silent.filter(({ name }) => !known.has(name) && nodeOf(observed, name) === undefined);
    const reasons = silent.filter((machine) => !booting.includes(machine)).map(unreachableReason);
    if (booting.length > 0) reasons.unshift(`waiting for ${booting.map(({ name }) => name).join(", ")} to boot`);
    return reasons.length === 0 ? undefined : reasons.join("; ");
  };
  // During a first boot the network's error is expected: it is worth a word only where the boot takes too long.
  const explain = async () => {
    const isLate = timing.elapsed() - begun >= Math.min(bootPatience, timeouts.reachable);
    return isLate && booting.length > 0 ? booting.map(unreachableReason).join("; ") : undefined;
  };
  await context.waitFor("wait for every machine to answer", timeouts.reachable, look, explain);
  const observed = last ?? (await context.observe());
  context.emit({ type: "observed", message: `observed ${observed.machines.size} machines` });
  return observed;
}

/** More than a first boot takes, even that of a virtual machine without KVM. */
const bootPatience = 3 * 60_000;

interface SilentMachine {
  readonly name: string;
  readonly reason: string;
}

const unreachableReason = ({ name, reason }: SilentMachine) => `${name}: not reachable: ${reason}`;

/** Machines that have to answer before a plan is made, and do not. */
function silentMachines(
  { machines }: Pick<DesiredCluster, "machines">,
  observed: ObservedCluster,
): readonly SilentMachine[] {
  const started = machines.some(
    ({ name, role }) => role === "controlplane" && configured(observed.machines.get(name)) !== undefined,
  );
  return machines.flatMap(({ name, role }) => {
    const state = observed.machines.get(name)?.state;
    if (state?.kind !== "unreachable" || (role === "worker" && !started)) return [];
    // Waiting does not change a certificate, so an error in it is reported at once.
    return state.certificate === undefined ? [{ name, reason: state.reason }] : [];
  });
}

/** Before the first change: what is known to go wrong ends the run here. */
export function report(context: StepContext, findings: readonly Finding[]): void {
  for (const { severity, message, machine } of findings) {
    if (severity === "warning") context.emit({ type: "warning", message, ...given({ machine }) });
  }
  refuseErrors(findings);
}

/** Nothing was planned for a machine that should leave: then leaving would cost the quorum. */
export function refuseUnfinished({ desired }: StepContext, observed: ObservedCluster): void {
  const stuck = desired.leaving.filter(({ name }) => configured(observed.machines.get(name)) !== undefined);
  if (stuck.length === 0) return;
  const names = stuck.map(({ name }) => name).join(", ");
  throw new TalosError("failed-precondition", `${names} cannot leave: etcd would lose its quorum`, {
    hint: "Heal or replace the other control planes first; a member may leave when the rest keeps a majority.",
  });
}

/** Waits until the checks of `talosctl health` hold; throws the first that does not in time. Changes nothing. */
export function awaitHealthy(options: EngineOptions): Promise<void> {
  return withContext(options, awaitHealth);
}

async function awaitHealth(context: StepContext): Promise<void> {
  const { checks } = await checkHealthIn(context, {
    onCheck: ({ name, state, reason }) => {
      if (state === "waiting" && reason !== undefined) {
        context.emit({ type: "waiting", message: `waiting for ${name}: ${reason}` });
      }
    },
  });
  const failed = checks.find(({ state }) => state === "failed");
  if (failed === undefined) return;
  if (failed.byPerson) {
    context.emit({ type: "warning", message: `${failed.reason}, not by talosmith; it stays so until you uncordon it` });
    return;
  }
  throw new TalosError("deadline-exceeded", `waiting for ${failed.name}: ${failed.reason}`, {
    hint: "The cluster has everything that it was asked to have, but is not healthy. Mend the cause and run the same command again.",
  });
}

/** How long a certificate that does not fit may be an old one, on its way to be replaced. */
const certificatePatience = 30_000;

async function awaitEndpoint(context: StepContext): Promise<void> {
  const { endpoint } = context.desired;
  let unfitSince: number | undefined;
  await context.waitFor(`wait for the Kubernetes API at ${endpoint}`, context.timeouts.health, async () => {
    const obstacle = await context.machines.kubernetes.endpointObstacle(context.signal);
    if (obstacle?.certificate !== true) unfitSince = undefined;
    else unfitSince ??= context.timing.elapsed();
    if (unfitSince !== undefined && context.timing.elapsed() - unfitSince >= certificatePatience) {
      throw new TalosError("failed-precondition", `the endpoint ${endpoint}: ${obstacle?.reason}`, {
        hint: "Whatever answers there must pass connections on to the control planes unchanged, and its host must be among the cluster's certSANs.",
      });
    }
    return obstacle?.reason;
  });
}

/** Steps that are about to be done. */
export function announce(steps: readonly Step[], context: StepContext): void {
  const count = steps.length === 1 ? "1 step" : `${steps.length} steps`;
  context.emit({ type: "planned", message: steps.length === 0 ? "nothing to do" : `${count} to do`, steps });
}
