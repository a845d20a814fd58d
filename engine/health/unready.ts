// SPDX-License-Identifier: Apache-2.0
import { isGiven } from "../../talos/given.ts";
import type { DesiredCluster } from "../desired.ts";
import type { MachineHealth } from "../machines.ts";
import type { KubernetesNode, MachineState, ObservedCluster, ObservedComponent } from "../observed.ts";
import { componentVersions } from "../plan/component-images.ts";
import { inEtcd } from "../plan/machine-work.ts";
import { configured, nodeOf } from "../plan/quorum.ts";
import { type Policy, usesKubernetes } from "../policy.ts";
import { type KubernetesComponent, staticPodComponents } from "../step.ts";

type Wanted = Pick<DesiredCluster, "machines" | "nodesBecomeReady">;

/** Something that does not work, with a sentence that names its machine. */
export interface Unready {
  readonly part: "machine" | "etcd" | "kubernetes" | "component" | "node";
  readonly message: string;
}

/**
 * What of a cluster that has its configs does not work. It is shown wherever "nothing to change" is.
 * Machines that do not answer are not in it: nothing is known of them. Pure.
 */
export function unreadyParts(
  desired: Wanted,
  observed: ObservedCluster,
  policy: Pick<Policy, "healthLevel">,
): readonly Unready[] {
  const seen = desired.machines.filter(({ name }) => configured(observed.machines.get(name)) !== undefined);
  const planes = seen.filter(({ role }) => role === "controlplane");
  const below = [
    ...seen.flatMap(({ name }) => named("machine", name, machineFaults(observed.machines.get(name)?.state))),
    ...planes.filter((machine) => !inEtcd(machine, observed)).flatMap(({ name }) => named("etcd", name, [etcdFault])),
  ];
  if (!usesKubernetes(policy)) return below;
  const { kubernetes } = observed;
  if (kubernetes.kind === "unreachable")
    return [...below, { part: "kubernetes", message: `the Kubernetes API does not answer: ${kubernetes.reason}` }];
  if (policy.healthLevel === "api") return below;
  return [
    ...below,
    ...planes.flatMap(({ name }) => named("component", name, componentFaults(name, observed, kubernetes.components))),
    ...seen.flatMap(({ name }) => named("node", name, nodeFaults(desired, nodeOf(observed, name)))),
  ];
}

function named(part: Unready["part"], name: string, faults: readonly string[]): readonly Unready[] {
  return faults.map((fault) => ({ part, message: `${name}: ${fault}` }));
}

const etcdFault = "it is not a healthy member of etcd";

/** What Kubernetes reports better itself, or what a cluster without a pod network never has. */
const ofKubernetes: ReadonlySet<string> = new Set(["nodeReady", "staticPods"]);

function machineFaults(state: MachineState | undefined): readonly string[] {
  if (state?.kind !== "configured") return [];
  if (state.stage !== "running") return [`it is ${state.stage}`];
  return state.unmet.filter(({ name }) => !ofKubernetes.has(name)).map(({ name, reason }) => `${name}: ${reason}`);
}

function componentFaults(
  name: string,
  observed: ObservedCluster,
  pods: readonly ObservedComponent[] | undefined,
): readonly string[] {
  const config = configured(observed.machines.get(name))?.config;
  if (pods === undefined || config === undefined) return [];
  const versions = componentVersions(config);
  const faults = staticPodComponents.map((component) => {
    const pod = pods.find((one) => one.component === component && one.node === name);
    return componentFault(component, pod, versions.get(component));
  });
  return faults.filter(isGiven);
}

/** What is wrong with a component; `version` is the one that the machine's config has. */
export function componentFault(
  component: KubernetesComponent,
  pod: Pick<ObservedComponent, "version" | "ready" | "reason"> | undefined,
  version?: string,
): string | undefined {
  if (pod === undefined) return `the pod of ${component} is not there`;
  if (version !== undefined && pod.version !== "" && pod.version !== version)
    return `${component} runs ${pod.version}, and its config has ${version}`;
  if (pod.ready) return undefined;
  return `${component} is not ready${pod.reason === undefined ? "" : `: ${pod.reason}`}`;
}

function nodeFaults({ nodesBecomeReady }: Wanted, node: KubernetesNode | undefined): readonly string[] {
  if (node === undefined) return ["Kubernetes has no node of this name"];
  if (node.ready || !nodesBecomeReady) return [];
  return [`its Kubernetes node is not ready${node.reason === undefined ? "" : `: ${node.reason}`}`];
}

/**
 * Why a node cannot be taken for ready although Kubernetes calls it so. What Kubernetes says may be older than what runs:
 * after a restore it is what the backup says, after a reboot what was before it, until the kubelet reports. A kubelet
 * starts once the machine's clock is set, and reports as soon as it has started.
 */
export function kubeletFault(
  node: Pick<KubernetesNode, "reportedAt"> | undefined,
  { services }: Pick<MachineHealth, "services">,
): string | undefined {
  const { state, since } = services.get("kubelet") ?? {};
  if (state !== undefined && state !== "Running") return `its kubelet is in state ${state}, not Running`;
  if (since === undefined || node?.reportedAt === undefined) return undefined;
  return inSeconds(node.reportedAt) < inSeconds(since) ? "its kubelet has not reported since it started" : undefined;
}

/** Kubernetes tells no fractions. */
const inSeconds = (time: Date) => Math.floor(time.getTime() / 1000);
