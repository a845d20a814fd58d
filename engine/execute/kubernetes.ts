// SPDX-License-Identifier: Apache-2.0

import { createHash } from "node:crypto";
import { TalosError } from "../../talos/errors.ts";
import { TalosVersion } from "../../talos/version/index.ts";
import { undefinedIf } from "../failures.ts";
import type { ManifestChange, ManifestObject, Workload, WorkloadKind } from "../machines.ts";
import { componentImages, componentVersions, withComponentImages } from "../plan/component-images.ts";
import { deadNodes } from "../plan/stray-nodes.ts";
import type { KubernetesComponent, Step, StepOf, WantedImage } from "../step.ts";
import { describe, notReadyYet, untilConfigured } from "./join.ts";
import type { StepContext } from "./step-context.ts";
import { attempt } from "./wait.ts";

/** Fetches images while nothing has been disturbed yet, so that a missing one is found out in time. */
export async function pullImages(step: StepOf<"pull-installer" | "pull-images">, context: StepContext): Promise<void> {
  const target = context.target(step.machine);
  const done = new Set<WantedImage>();
  const wanted: readonly WantedImage[] =
    step.kind === "pull-images" ? step.images : [{ image: step.image, namespace: "system" }];
  await context.until(step, async () => {
    for (const one of wanted) {
      if (done.has(one)) continue;
      // A machine that has no call for it fetches its images when it needs them.
      const pulling = () => context.machines.pullImage(target, one, context.signal);
      const refused = await attempt(() => pulling().catch(undefinedIf("unimplemented")));
      if (refused !== undefined) return refused;
      done.add(one);
    }
    return undefined;
  });
}

/** One component of Kubernetes on one machine: its image in the config, then its pod or kubelet. */
export async function upgradeKubernetes(step: StepOf<"upgrade-kubernetes">, context: StepContext): Promise<void> {
  const target = context.target(step.machine);
  await context.until(step, async () => {
    const state = await context.inspect(step.machine);
    if (state.kind !== "configured" || state.config === undefined) return describe(state, "");
    if (componentVersions(state.config).get(step.component) !== step.to) {
      // Only the one image: everything else of the config has had its turn, or will have.
      const image = componentImages(context.desiredMachine(step.machine).config).get(step.component) ?? "";
      const config = withComponentImages(state.config, new Map([[step.component, image]]));
      const refused = await attempt(() => context.machines.changeConfig(target, config, "no-reboot", context.signal));
      return refused ?? `changing the image of ${step.component}`;
    }
    return componentReason(step.component, step.machine, step.to, context);
  });
}

/** What an earlier run has given its new version. */
export async function awaitComponents(step: StepOf<"await-components">, context: StepContext): Promise<void> {
  await context.until(step, async () => {
    for (const { component, version } of step.components) {
      const reason = await componentReason(component, step.machine, version, context);
      if (reason !== undefined) return reason;
    }
    return undefined;
  });
}

async function componentReason(
  component: KubernetesComponent,
  machine: string,
  version: string,
  context: StepContext,
): Promise<string | undefined> {
  // kube-proxy is a daemon set that Talos's manifests carry, not a thing of one machine.
  if (component === "kube-proxy") return undefined;
  if (component !== "kubelet") {
    const found = await context.machines.kubernetes.component(component, machine, context.signal);
    if (found === undefined) return `waiting for the pod of ${component}`;
    if (found.version !== version) return `waiting for ${component} ${version} to start; ${found.version} runs now`;
    if (found.ready) return undefined;
    return `waiting for ${component} ${version} to become ready${found.reason === undefined ? "" : `: ${found.reason}`}`;
  }
  const observed = await context.observeNode(machine);
  if (observed.kind === "unreachable") return `the Kubernetes API does not answer: ${observed.reason}`;
  const { node } = observed;
  if (node?.kubeletVersion !== `v${version}`)
    return `waiting for kubelet v${version} to start; ${node?.kubeletVersion ?? "none"} runs now`;
  return node.ready || !context.desired.nodesBecomeReady ? undefined : notReadyYet(node);
}

/** The cluster's own objects, then their rollout: done when every pod of them is new and ready. */
export async function syncManifests(step: StepOf<"sync-manifests">, context: StepContext): Promise<void> {
  const target = context.target(step.machine);
  const { kubernetes } = context.machines;
  let objects: readonly ManifestObject[] = [];
  await untilConfigured(step, context, async (state) => {
    objects = await context.machines.bootstrapManifests(target, context.signal);
    const inventory = TalosVersion.parse(state.talosVersion).contract.syncsManifestsByInventory;
    return attempt(async () => {
      const options = { inventory, signal: context.signal };
      for (const change of await kubernetes.syncManifests(objects, options)) tell(change, step, context);
    });
  });
  await awaitRollout(step, objects.flatMap(workloadOf), context);
}

/** Until every pod of the workloads is of the newest template and ready; those on nodes that are dead do not count. */
async function awaitRollout(step: Step, workloads: readonly Workload[], context: StepContext): Promise<void> {
  const { kubernetes } = context.machines;
  let last = { reason: "", since: context.timing.elapsed() };
  await context.until(step, async () => {
    const without = deadNodes(context.desired, await context.observeKubernetes());
    for (const { kind, name } of workloads) {
      const status = await kubernetes.workload(kind, name, { without, signal: context.signal });
      // Without a network only what uses the host's can run; the rest waits for whoever brings one.
      if (status === undefined || (kind === "deployments" && !context.desired.nodesBecomeReady)) continue;
      if (status.updated < status.wanted) {
        const reason = `${name}: ${status.updated} of ${status.wanted} pods are new`;
        const now = context.timing.elapsed();
        if (reason !== last.reason) last = { reason, since: now };
        if (without.length > 0 && now - last.since >= longestStandstill) throw heldUp(reason, without);
        return without.length === 0 ? reason : `${reason}; ${without.join(", ")}: not ready and not in the file`;
      }
      if (status.ready < status.wanted) return `${name}: ${status.ready} of ${status.wanted} pods are ready`;
    }
    return undefined;
  });
}

/** Milliseconds. */
const longestStandstill = 2 * 60_000;

/** Kubernetes replaces so many pods of a daemon set at a time, and those of dead nodes count as being replaced for ever. */
function heldUp(reason: string, nodes: readonly string[]): TalosError {
  return new TalosError(
    "failed-precondition",
    `${reason}, held up by Kubernetes nodes that are not ready and not in the file: ${nodes.join(", ")}`,
    { hint: `If their machines are gone: kubectl delete node ${nodes.join(" ")}. Then run the same command again.` },
  );
}

/**
 * Talos's own workloads, when new pods trust the new CA of Kubernetes: those that run keep the CAs they have read. What
 * others run is named: only its owner knows when it may be restarted.
 */
export async function restartWorkloads(step: StepOf<"restart-workloads">, context: StepContext): Promise<void> {
  const { kubernetes } = context.machines;
  const ca = step.ca.trim();
  await context.until(step, async () =>
    (await kubernetes.rootCas(context.signal)).includes(ca) ? undefined : "Kubernetes has not published the new CA yet",
  );
  const objects = await context.machines.bootstrapManifests(context.target(step.machine), context.signal);
  const workloads = objects.flatMap(workloadOf);
  const mark = createHash("sha256").update(ca).digest("hex").slice(0, 16);
  for (const workload of workloads)
    await context.untilDone(step, () => kubernetes.restartWorkload(workload, mark, context.signal));
  await awaitRollout(step, workloads, context);
  await nameOldClients(step, workloads, context);
}

async function nameOldClients(step: Step, workloads: readonly Workload[], context: StepContext): Promise<void> {
  const own = new Set(workloads.map(({ kind, name }) => `${kinds[kind]} kube-system/${name}`));
  const clients = await context.machines.kubernetes.clientPods(context.signal);
  const restarted = clients.filter(({ owner }) => own.has(owner)).map(({ since }) => since);
  const [first = new Date(context.timing.now()).toISOString()] = restarted.sort();
  const old = clients.filter(({ owner, since }) => !own.has(owner) && since < first);
  if (old.length === 0) return;
  const named = old.map(({ owner, pods }) => `${owner} (${pods} ${pods === 1 ? "pod" : "pods"})`);
  const message = `pods that started before the new CA of Kubernetes lose its API if they use it, until they are restarted: ${named.join(", ")}`;
  context.emit({ type: "warning", message, step });
}

const kinds: Readonly<Record<WorkloadKind, string>> = { daemonsets: "DaemonSet", deployments: "Deployment" };

function tell({ action, subject }: ManifestChange, step: Step, context: StepContext): void {
  context.emit({ type: "waiting", message: `${action} ${subject}`, machine: step.machine, step });
}

function workloadOf({ kind, metadata }: ManifestObject): readonly Workload[] {
  const { name, namespace } = metadata as { name?: unknown; namespace?: unknown };
  if (typeof name !== "string" || namespace !== "kube-system") return [];
  if (kind === "DaemonSet") return [{ kind: "daemonsets", name }];
  return kind === "Deployment" ? [{ kind: "deployments", name }] : [];
}
