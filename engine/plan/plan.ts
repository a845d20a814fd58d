// SPDX-License-Identifier: Apache-2.0
import type { DesiredCluster, DesiredMachine } from "../desired.ts";
import type { ObservedCluster } from "../observed.ts";
import type { Policy } from "../policy.ts";
import { type Step, step } from "../step.ts";
import { installOf, planBootstrap, planMeta } from "./first-contact.ts";
import { inEtcd, inKubernetes, isSettled, machineWork } from "./machine-work.ts";
import { PlanBuilder } from "./plan-builder.ts";
import { planKubernetesUpgrade } from "./plan-kubernetes.ts";
import { planLeaving, planRepairs } from "./plan-leaving.ts";
import { planRollout } from "./plan-rollout.ts";
import { refuseDestroy } from "./protection.ts";
import { configured, etcdView, nodeOf } from "./quorum.ts";

/**
 * The ordered work from what is to what should be. Pure: no clock, no network. It plans nothing for machines that
 * can't be reached or belong to others; whoever runs it waits for the former and refuses the latter. Empty when there
 * is nothing to do.
 */
export function plan(desired: DesiredCluster, observed: ObservedCluster, policy: Policy): readonly Step[] {
  const builder = new PlanBuilder();
  planRepairs(builder, desired, observed);
  builder.closePhase();
  planJoining(builder, desired, observed, policy);
  builder.closePhase();
  const kubernetesFirst = needsKubernetesFirst(desired, observed);
  if (kubernetesFirst) {
    planKubernetesUpgrade(builder, desired, observed, policy);
    builder.closePhase();
  }
  planRollout(builder, desired, observed, policy);
  builder.closePhase();
  if (!kubernetesFirst) {
    planKubernetesUpgrade(builder, desired, observed, policy);
    builder.closePhase();
  }
  planLeaving(builder, desired, observed, policy);
  return builder.steps;
}

/** Only the leaving of machines and what they leave behind; the others are looked at and not touched. */
export function planLeave(desired: DesiredCluster, observed: ObservedCluster, policy: Policy): readonly Step[] {
  const builder = new PlanBuilder();
  planRepairs(builder, { ...desired, machines: [] }, observed);
  builder.closePhase();
  planLeaving(builder, desired, observed, policy);
  return builder.steps;
}

/**
 * Everything goes: each machine is wiped, side by side. Machines without our config have nothing to lose. Throws for a
 * cluster with deletion protection.
 */
export function planDestroy(desired: DesiredCluster, observed: ObservedCluster): readonly Step[] {
  refuseDestroy(desired);
  const present = [...desired.machines, ...desired.leaving].filter(
    (machine) => configured(observed.machines.get(machine.name)) !== undefined,
  );
  const staysOff = desired.configSource === "user-data";
  const resetOf = ({ name }: { readonly name: string }, after: readonly string[] = []) =>
    step({ kind: "reset", machine: name, graceful: false, staysOff }, after);
  const { talosEndpoints } = desired;
  if (talosEndpoints === undefined) return present.map((machine) => resetOf(machine));
  // The way to the others ends with the last control plane, so they go before it; an endpoint itself goes last.
  const steps = present.filter(({ role }) => role === "worker").map((machine) => resetOf(machine));
  const isEndpoint = ({ address }: { readonly address: string }) => talosEndpoints.includes(address);
  const planes = present.filter(({ role }) => role === "controlplane");
  for (const plane of [...planes.filter((one) => !isEndpoint(one)), ...planes.filter(isEndpoint)])
    steps.push(
      resetOf(
        plane,
        steps.map(({ id }) => id),
      ),
    );
  return steps;
}

/** New machines get their config, etcd is started where there is none, and whoever is on the way is waited for. */
function planJoining(builder: PlanBuilder, desired: DesiredCluster, observed: ObservedCluster, policy: Policy): void {
  const etcdExists = etcdView(observed) !== undefined;
  let previousJoin: readonly string[] = [];
  const joining: DesiredMachine[] = [];
  for (const machine of desired.machines) {
    const state = observed.machines.get(machine.name)?.state;
    if (state?.kind === "maintenance") {
      joining.push(machine);
      const installed = builder.add(installOf(desired, machine), machine.role === "controlplane" ? previousJoin : []);
      // Into a running etcd one member after another; the first ones of a new cluster need not wait for each other.
      if (etcdExists && machine.role === "controlplane") {
        previousJoin = [builder.add({ kind: "join-etcd", machine: machine.name }, [installed])];
      }
    } else if (state?.kind === "configured" && !isSettled(desired, machine, observed, policy)) {
      const { talos, config } = machineWork(desired, machine, state);
      // A change may be what heals it: then the rollout does the waiting.
      if (talos === undefined && config === undefined) joining.push(machine);
    }
  }
  const bootstrap = planBootstrap(builder, desired, observed);
  planMeta(builder, desired, observed);
  for (const machine of joining) planWaits(builder, desired, machine, observed, policy, bootstrap);
  for (const machine of desired.machines) {
    const node = nodeOf(observed, machine.name);
    const state = configured(observed.machines.get(machine.name));
    if (node?.unschedulable !== true || !node.cordonedByUs || state === undefined) continue;
    const { talos, config } = machineWork(desired, machine, state);
    const isHealthy = isSettled(desired, machine, observed, policy);
    // An earlier run was stopped here. A machine that has to go down again, or may need its change to become healthy,
    // is uncordoned when the rollout has done that.
    const stays = talos === undefined && (config === undefined || (!config.reboot && isHealthy));
    if (stays) builder.add({ kind: "uncordon", machine: machine.name }, [`join-kubernetes/${machine.name}`]);
  }
}

function planWaits(
  builder: PlanBuilder,
  desired: DesiredCluster,
  machine: DesiredMachine,
  observed: ObservedCluster,
  policy: Policy,
  bootstrap: readonly string[],
): void {
  const after = [`apply-config/${machine.name}`, ...bootstrap];
  if (machine.role === "controlplane" && !inEtcd(machine, observed)) {
    after.push(builder.add({ kind: "join-etcd", machine: machine.name }, after));
  }
  if (policy.healthLevel !== "full") return;
  if (!inKubernetes(desired, machine, observed) || builder.has({ kind: "delete-node", machine: machine.name })) {
    builder.add({ kind: "join-kubernetes", machine: machine.name }, after);
  }
}

/** Talos goes first, unless the new Talos can't run the Kubernetes that is there. */
function needsKubernetesFirst(desired: DesiredCluster, observed: ObservedCluster): boolean {
  return desired.machines.some((machine) => {
    const state = configured(observed.machines.get(machine.name));
    if (state === undefined) return false;
    const { talos, kubernetes } = machineWork(desired, machine, state);
    return talos !== undefined && kubernetes.some(({ from }) => !desired.talosVersion.supportsKubernetes(from));
  });
}
