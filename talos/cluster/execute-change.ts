// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../errors.ts";
import { componentVersions, withComponentVersions } from "./component-images.ts";
import { configChange } from "./config-change.ts";
import { describe } from "./execute-join.ts";
import { configHeldBack, configToJoin } from "./machine-work.ts";
import type { ConfiguredMachine, MachineState } from "./observed.ts";
import { etcdView, survivesOutage } from "./quorum.ts";
import type { Step } from "./step.ts";
import type { StepContext } from "./step-context.ts";
import { attempt } from "./wait.ts";

/** First config: sent in maintenance mode, done when the machine answers with it under our CA. */
export async function installConfig(step: Step, context: StepContext): Promise<void> {
  const target = context.target(step.machine);
  const machine = context.desiredMachine(step.machine);
  const config = configToJoin(machine, await context.observeControlPlanes());
  let sent = false;
  await context.until(step, async () => {
    const state = await context.inspect(step.machine);
    if (state.kind === "configured") {
      if (state.stage === "installing" || state.config === undefined) return describe(state, "");
      return configChange(state.config, config) === undefined ? undefined : differs(state);
    }
    if (state.kind === "foreign")
      throw new TalosError("failed-precondition", `${step.machine}: ${describe(state, "")}`);
    if (state.kind === "unreachable") return describe(state, "");
    if (sent) return "it has its config and is on its way";
    const refused = await attempt(async () => {
      const { warnings } = await context.machines.install(target, config, context.signal);
      sent = true;
      for (const message of warnings) context.emit({ type: "warning", message, machine: step.machine, step });
    });
    return refused ?? "it has its config and is on its way";
  });
}

/** A change of a running machine's config. */
export async function applyConfig(step: Step, context: StepContext): Promise<void> {
  if (step.kind !== "apply-config" || step.effect === "install") throw wrongStep(step);
  const effect = step.effect;
  const target = context.target(step.machine);
  const wanted = context.desiredMachine(step.machine).config;
  let rebootedFrom: string | undefined;
  let accepted = false;
  await context.until(step, async () => {
    const state = await context.inspect(step.machine);
    if (state.kind !== "configured" || state.config === undefined) return describe(state, "");
    const config = configHeldBack(wanted, state.config);
    if (configChange(state.config, config) === undefined) return returned(state, rebootedFrom);
    // Until the reboot the old config is the active one.
    if (accepted && state.bootId === rebootedFrom) return "it reboots with its new config";
    if (effect === "reboot") {
      const obstacle = await outageObstacle(step.machine, context);
      if (obstacle !== undefined) return obstacle;
    }
    const refused = await attempt(async () => {
      // Before the call: the reply of a machine that reboots may get lost.
      if (effect === "reboot") rebootedFrom = state.bootId;
      accepted = false;
      const done = await context.machines.changeConfig(target, config, effect, context.signal);
      accepted = true;
      rebootedFrom = done === "reboot" ? state.bootId : undefined;
    });
    return refused ?? "the config is being applied";
  });
}

/** Another Talos: installed beside the old one, then a reboot. A machine that comes back as it was has rolled back. */
export async function upgradeTalos(step: Step, context: StepContext): Promise<void> {
  if (step.kind !== "upgrade-talos") throw wrongStep(step);
  const target = context.target(step.machine);
  let orderedAt: string | undefined;
  await context.until(step, async () => {
    const state = await context.inspect(step.machine);
    if (state.kind !== "configured") return describe(state, "");
    if (state.talosVersion === step.to) return returned(state, orderedAt);
    if (orderedAt === undefined) {
      const obstacle = await outageObstacle(step.machine, context);
      if (obstacle !== undefined) return obstacle;
      orderedAt = state.bootId;
      await context.machines.upgrade(target, step.image, context.signal);
      return "the new version is installed and the machine reboots";
    }
    if (state.bootId !== orderedAt && state.stage === "running") {
      throw new TalosError(
        "failed-precondition",
        `${step.machine} came back with Talos ${state.talosVersion} instead of ${step.to}: the new system did not boot and the old one was taken again`,
        { node: step.machine, hint: "Look at the machine's console, and check that the image fits its hardware." },
      );
    }
    return describe(state, "the new version is installed and the machine reboots");
  });
}

/** One component of Kubernetes on one machine: its image in the config, then its pod or kubelet. */
export async function upgradeKubernetes(step: Step, context: StepContext): Promise<void> {
  if (step.kind !== "upgrade-kubernetes") throw wrongStep(step);
  const target = context.target(step.machine);
  const wanted = context.desiredMachine(step.machine).config;
  await context.until(step, async () => {
    const state = await context.inspect(step.machine);
    if (state.kind !== "configured" || state.config === undefined) return describe(state, "");
    if (componentVersions(state.config).get(step.component) !== step.to) {
      const held = new Map(componentVersions(state.config)).set(step.component, step.to);
      const config = withComponentVersions(wanted, held);
      const refused = await attempt(() => context.machines.changeConfig(target, config, "no-reboot", context.signal));
      return refused ?? `${step.component} gets its new version`;
    }
    return componentReason(step.component, step.machine, step.to, context);
  });
}

async function componentReason(
  component: Parameters<StepContext["machines"]["kubernetes"]["component"]>[0],
  machine: string,
  version: string,
  context: StepContext,
): Promise<string | undefined> {
  // kube-proxy is a daemon set that Talos's manifests carry, not a thing of one machine.
  if (component === "kube-proxy") return undefined;
  if (component !== "kubelet") {
    const found = await context.machines.kubernetes.component(component, machine, context.signal);
    if (found === undefined) return `the pod of ${component} is not there`;
    if (found.version !== version) return `${component} still runs ${found.version}`;
    return found.ready ? undefined : `${component} ${version} is not ready yet`;
  }
  const kubernetes = await context.observeKubernetes();
  if (kubernetes.kind === "unreachable") return `the Kubernetes API does not answer: ${kubernetes.reason}`;
  const node = kubernetes.nodes.find(({ name }) => name === machine);
  if (node?.kubeletVersion !== `v${version}`) return `its kubelet still is ${node?.kubeletVersion ?? "not there"}`;
  return node.ready || !context.desired.nodesBecomeReady ? undefined : "its Kubernetes node is not ready yet";
}

/** Why the machine must not go down right now, by a fresh look at all members. */
export async function outageObstacle(machine: string, context: StepContext): Promise<string | undefined> {
  if (context.target(machine).role === "worker") return undefined;
  const view = etcdView(await context.observeControlPlanes(), machine);
  if (view === undefined) return "no etcd member answers";
  return survivesOutage(view, machine) ? undefined : "etcd would lose its quorum without it; waiting for other members";
}

/** After a reboot it must have booted anew; `before` is its boot id then, undefined when none was ordered. */
function returned(state: ConfiguredMachine, before: string | undefined): string | undefined {
  if (before !== undefined && state.bootId === before) return "it has not rebooted yet";
  return state.stage === "running" ? undefined : describe(state, "");
}

function differs(state: MachineState): string {
  return describe(state, "it runs another config than the one that it was sent");
}

function wrongStep(step: Step): TalosError {
  return new TalosError("internal", `step ${step.id} went to the wrong place`);
}
