// SPDX-License-Identifier: Apache-2.0
import { given } from "../../talos/given.ts";
import type { DesiredCluster, DesiredMachine } from "../desired.ts";
import type { ObservedCluster } from "../observed.ts";
import type { Policy } from "../policy.ts";
import { type KubernetesComponent, staticPodComponents, type WantedImage } from "../step.ts";
import { componentImages, componentVersions, kubernetesComponents, wantsProxy } from "./component-images.ts";
import { type ComponentUpgrade, machineWork, mayChange } from "./machine-work.ts";
import type { PlanBuilder } from "./plan-builder.ts";
import { planGate, planPause, splitCanaries } from "./plan-caution.ts";
import { planWorkers, workerLanes } from "./plan-rollout.ts";
import { configured, heldAddress, holderLast } from "./quorum.ts";

/**
 * As `talosctl upgrade-k8s`: all images first; then component by component over all control planes, API servers first;
 * the kubelets, workers last; and at the end the objects of the cluster itself, such as kube-proxy.
 */
export function planKubernetesUpgrade(
  builder: PlanBuilder,
  desired: DesiredCluster,
  observed: ObservedCluster,
  policy: Policy,
): void {
  const pending = new Map<string, readonly ComponentUpgrade[]>();
  for (const machine of desired.machines) {
    const state = configured(observed.machines.get(machine.name));
    const upgrades = state === undefined ? [] : machineWork(desired, machine, state).kubernetes;
    if (upgrades.length > 0) pending.set(machine.name, upgrades);
  }
  if (pending.size > 0) planComponentWaits(builder, desired, observed, pending);
  // The first gate is before the images, too: outside of a window nothing begins.
  const [[first, [upgrade] = []] = []] = pending;
  const opened =
    first === undefined || upgrade === undefined ? [] : planGate(builder, policy, first, upgrade.component, []);
  for (const machine of desired.machines) {
    const upgrades = pending.get(machine.name);
    // Reading a config takes longer than all else of a plan.
    const images = upgrades === undefined ? [] : imagesFor(machine, upgrades);
    if (images.length > 0) builder.add({ kind: "pull-images", machine: machine.name, images }, opened);
  }
  builder.closePhase();
  planComponents(builder, desired, observed, policy, pending);
  builder.closePhase();
  const source = desired.machines.find(
    ({ name, role }) => role === "controlplane" && configured(observed.machines.get(name)) !== undefined,
  );
  if (source === undefined) return;
  const proxy = proxyChange(source, observed);
  if (proxy !== undefined) builder.add({ kind: "sync-manifests", machine: source.name, proxy });
  else if (pending.size > 0) builder.add({ kind: "sync-manifests", machine: source.name });
}

/**
 * A component that got its new version from an earlier run and never became ready must not spread to the next machine.
 * One behind a component that is still to be changed may need that change to become ready. Nodes are waited for by
 * `planJoining`.
 */
function planComponentWaits(
  builder: PlanBuilder,
  desired: DesiredCluster,
  observed: ObservedCluster,
  pending: ReadonlyMap<string, readonly ComponentUpgrade[]>,
): void {
  for (const { name, role, config } of desired.machines) {
    const running = configured(observed.machines.get(name))?.config;
    if (role === "worker" || running === undefined) continue;
    const [next] = pending.get(name) ?? [];
    const changed = [...componentVersions(config)].filter(([component, version]) => {
      const isBefore = next === undefined || isEarlier(component, next.component);
      return staticPods.has(component) && isBefore && componentVersions(running).get(component) === version;
    });
    const components = changed.map(([component, version]) => ({ component, version }));
    if (components.length > 0) builder.add({ kind: "await-components", machine: name, components });
  }
  builder.closePhase();
}

const staticPods: ReadonlySet<KubernetesComponent> = new Set(staticPodComponents);

function isEarlier(component: KubernetesComponent, other: KubernetesComponent): boolean {
  return kubernetesComponents.indexOf(component) < kubernetesComponents.indexOf(other);
}

function planComponents(
  builder: PlanBuilder,
  desired: DesiredCluster,
  observed: ObservedCluster,
  policy: Policy,
  pending: ReadonlyMap<string, readonly ComponentUpgrade[]>,
): void {
  let previous: readonly string[] = [];
  const sharedBy = ({ name }: DesiredMachine, { component }: ComponentUpgrade) =>
    component === "kube-apiserver" ? heldAddress(desired, observed, name) : undefined;
  const add = (machine: DesiredMachine, upgrade: ComponentUpgrade, after: readonly string[]): string =>
    builder.add(
      {
        kind: "upgrade-kubernetes",
        machine: machine.name,
        ...upgrade,
        ...given({ sharedAddress: sharedBy(machine, upgrade) }),
      },
      planGate(builder, policy, machine.name, upgrade.component, after),
    );
  const planes = desired.machines.filter(({ role }) => role === "controlplane");
  for (const component of kubernetesComponents) {
    for (const machine of holderLast(planes, observed, (plane) => plane)) {
      const upgrade = pending.get(machine.name)?.find((candidate) => candidate.component === component);
      if (upgrade !== undefined) previous = [add(machine, upgrade, previous)];
    }
  }
  const workers = desired.machines.flatMap((machine) => {
    const upgrade = machine.role === "worker" ? pending.get(machine.name)?.[0] : undefined;
    return upgrade === undefined ? [] : [{ machine, upgrade }];
  });
  const lanes = workerLanes(desired, policy);
  const { canaries, rest } = splitCanaries(workers, policy);
  const overAll = (some: readonly (typeof workers)[number][], after: readonly string[]) =>
    planWorkers(some, lanes, after, ({ machine, upgrade }, last) => add(machine, upgrade, last));
  const names = canaries.map(({ machine }) => machine.name);
  overAll(rest, planPause(builder, desired, policy, "kubelets", names, overAll(canaries, previous)));
}

/** kube-proxy is fetched by Kubernetes itself, node by node. */
function imagesFor(machine: DesiredMachine, upgrades: readonly ComponentUpgrade[]): WantedImage[] {
  const images = componentImages(machine.config);
  return upgrades.flatMap(({ component }): WantedImage[] => {
    const image = images.get(component);
    if (image === undefined || component === "kube-proxy") return [];
    return [{ image, namespace: component === "kubelet" ? "system" : "cri" }];
  });
}

/** An upgrade that was interrupted after its last kubelet can be told by the kube-proxy that it has left behind. */
function proxyChange(
  { config }: DesiredMachine,
  { kubernetes }: ObservedCluster,
): { readonly from: string; readonly to: string } | undefined {
  const from = kubernetes.kind === "reachable" ? kubernetes.proxyVersion : undefined;
  const to = componentVersions(config).get("kube-proxy");
  if (from === undefined || to === undefined || !mayChange(from, to) || !wantsProxy(config)) return undefined;
  return { from, to };
}
