// SPDX-License-Identifier: Apache-2.0
import { parseAddress } from "../../talos/api/index.ts";
import type { DesiredCluster, DesiredMachine } from "../desired.ts";
import type { Kubernetes, MachineHealth, WorkloadOptions } from "../machines.ts";
import type { KubernetesNode, ObservedCluster } from "../observed.ts";
import { configured } from "../plan/quorum.ts";
import { deadNodes } from "../plan/stray-nodes.ts";
import { staticPodComponents } from "../step.ts";
import { componentFault, kubeletFault } from "./unready.ts";

/** What one round of checks looks at; everything is asked at most once per round. */
export interface HealthView {
  readonly desired: DesiredCluster;
  readonly kubernetes: Kubernetes;
  observed(): Promise<ObservedCluster>;
  health(machine: DesiredMachine): Promise<MachineHealth>;
}

/** `skip`: the check makes no sense for this cluster. A text is what is still wrong, with the machine's name in it. */
export type Verdict =
  | { readonly kind: "ok" }
  | { readonly kind: "skip" }
  /** `byPerson`: somebody has set it so, and waiting does not change it. */
  | { readonly kind: "wrong"; readonly reason: string; readonly byPerson?: true };

export interface HealthCheck {
  /** As `talosctl health` calls it. */
  readonly name: string;
  /** Made even where only the API is waited for. */
  readonly level?: "api";
  /** Needs a running Kubernetes. */
  readonly kubernetes?: true;
  run(view: HealthView, signal?: AbortSignal): Promise<Verdict>;
}

const mebibyte = 1024n * 1024n;
const smallestMemory = { controlplane: 1698n * mebibyte, worker: 874n * mebibyte };
const smallestDisk = 6n * 1024n * mebibyte;

/** The checks of `talosctl health`, in its order, with one more. */
export const healthChecks: readonly HealthCheck[] = [
  { name: "etcd to be healthy", level: "api", run: serviceHealthy("etcd") },
  { name: "etcd members to be consistent across nodes", level: "api", run: consistentMembers },
  { name: "etcd members to be control plane nodes", level: "api", run: membersAreControlPlanes },
  { name: "apid to be ready", run: everyMachine(() => undefined) },
  { name: "all nodes memory sizes", run: everyMachine(memoryFault) },
  { name: "all nodes disk sizes", run: everyMachine(diskFault) },
  { name: "no diagnostics", run: everyMachine(({ diagnostics }) => diagnostics[0]) },
  { name: "kubelet to be healthy", run: serviceHealthy("kubelet") },
  { name: "all nodes to finish boot sequence", run: bootFinished },
  {
    name: "all k8s nodes to report",
    kubernetes: true,
    run: everyNode((node) => (node === undefined ? "has not reported" : undefined)),
  },
  {
    name: "all control plane static pods to be running",
    kubernetes: true,
    run: everyControlPlane(({ staticPods }) => {
      const waiting = staticPods.find(({ ready }) => !ready);
      if (waiting !== undefined) return `static pod ${waiting.name} is not ready`;
      return staticPods.length === 0 ? "has no static pods yet" : undefined;
    }),
  },
  { name: "all control plane components to be ready", kubernetes: true, run: componentsReady },
  {
    name: "all k8s nodes to report ready",
    kubernetes: true,
    run: withNetwork(nodesReady),
  },
  { name: "kube-proxy to report ready", kubernetes: true, run: workloadReady("daemonsets", "kube-proxy") },
  { name: "kube-proxy to follow the Kubernetes API", kubernetes: true, run: proxyFollows },
  { name: "coredns to report ready", kubernetes: true, run: withNetwork(workloadReady("deployments", "coredns")) },
  { name: "all k8s nodes to report schedulable", kubernetes: true, run: schedulable },
];

type Check = HealthCheck["run"];
const ok: Verdict = { kind: "ok" };
const skip: Verdict = { kind: "skip" };
const wrong = (reasons: readonly string[]): Verdict =>
  reasons.length === 0 ? ok : { kind: "wrong", reason: reasons.join("; ") };

function controlPlanes({ desired }: HealthView): readonly DesiredMachine[] {
  return desired.machines.filter(({ role }) => role === "controlplane");
}

function everyMachine(fault: (health: MachineHealth, machine: DesiredMachine) => string | undefined): Check {
  return async (view) => faults(view, view.desired.machines, fault);
}

function everyControlPlane(fault: (health: MachineHealth) => string | undefined): Check {
  return async (view) => faults(view, controlPlanes(view), fault);
}

async function faults(
  view: HealthView,
  machines: readonly DesiredMachine[],
  fault: (health: MachineHealth, machine: DesiredMachine) => string | undefined,
): Promise<Verdict> {
  const found = await Promise.all(
    machines.map(async (machine) => {
      const reason = fault(await view.health(machine), machine);
      return reason === undefined ? [] : [`${machine.name}: ${reason}`];
    }),
  );
  return wrong(found.flat());
}

function serviceHealthy(id: string): Check {
  return everyControlPlane(({ services }) => {
    const service = services.get(id);
    if (service === undefined) return `service "${id}" is not there`;
    const { state, healthy, message } = service;
    if (state !== "Running") return `service "${id}" is in state ${state}, not Running${message && `: ${message}`}`;
    return healthy ? undefined : `service "${id}" is not healthy: ${message}`;
  });
}

async function consistentMembers(view: HealthView): Promise<Verdict> {
  const { machines } = await view.observed();
  const lists = controlPlanes(view).map(({ name }) => {
    const members = configured(machines.get(name))?.etcd?.members ?? [];
    return {
      name,
      ids: members
        .map(({ id }) => id)
        .sort()
        .join(),
    };
  });
  const [first, ...others] = lists;
  const empty = lists.filter(({ ids }) => ids === "").map(({ name }) => `${name}: its etcd does not answer`);
  if (empty.length > 0) return wrong(empty);
  return wrong(
    others.filter(({ ids }) => ids !== first?.ids).map(({ name }) => `${name}: sees other members than ${first?.name}`),
  );
}

async function membersAreControlPlanes(view: HealthView): Promise<Verdict> {
  const { machines } = await view.observed();
  const known = controlPlanes(view);
  const names = new Set(known.map(({ name }) => name));
  const hosts = new Set(known.map(({ address }) => parseAddress(address).host));
  const members = known
    .map(({ name }) => configured(machines.get(name))?.etcd?.members ?? [])
    .find((list) => list.length > 0);
  if (members === undefined) return wrong(["no etcd answers"]);
  const strangers = members.filter(
    ({ hostname, peerUrls }) => !names.has(hostname) && !peerUrls.some((url) => hosts.has(hostOf(url))),
  );
  return wrong(
    strangers.map(({ hostname, id }) => `etcd member ${hostname} (${id}) is no control plane of this cluster`),
  );
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname.replace(/^\[(.*)\]$/, "$1") : "";
}

function memoryFault({ memory, inContainer }: MachineHealth, { role }: DesiredMachine): string | undefined {
  if (inContainer || memory === undefined || memory >= smallestMemory[role]) return undefined;
  return `has ${memory / mebibyte} MiB of memory, a ${role} needs ${smallestMemory[role] / mebibyte}`;
}

function diskFault({ volumes, inContainer }: MachineHealth): string | undefined {
  const ephemeral = volumes.get("EPHEMERAL");
  if (inContainer || ephemeral === undefined) return undefined;
  const whole = [...volumes.values()].reduce((sum, size) => sum + size, 0n);
  return whole >= smallestDisk ? undefined : `has ${whole / mebibyte} MiB of disk, it needs ${smallestDisk / mebibyte}`;
}

async function bootFinished(view: HealthView): Promise<Verdict> {
  const { machines } = await view.observed();
  return wrong(
    view.desired.machines.flatMap(({ name }) => {
      const state = machines.get(name)?.state;
      if (state?.kind === "configured" && state.stage === "running") return [];
      return [`${name}: ${state?.kind === "configured" ? `is ${state.stage}` : (state?.kind ?? "was not observed")}`];
    }),
  );
}

function everyNode(fault: (node: KubernetesNode | undefined) => string | undefined): Check {
  return async (view) => {
    const { kubernetes } = await view.observed();
    if (kubernetes.kind === "unreachable") return wrong([`the Kubernetes API does not answer: ${kubernetes.reason}`]);
    const nodes = new Map(kubernetes.nodes.map((node) => [node.name, node]));
    return wrong(
      view.desired.machines.flatMap(({ name }) => {
        const reason = fault(nodes.get(name));
        return reason === undefined ? [] : [`${name}: ${reason}`];
      }),
    );
  };
}

async function nodesReady(view: HealthView): Promise<Verdict> {
  const verdict = await everyNode((node) => (node?.ready ? undefined : "is not ready"))(view);
  const { kubernetes } = await view.observed();
  if (verdict.kind === "wrong" || kubernetes.kind === "unreachable") return verdict;
  const nodes = new Map(kubernetes.nodes.map((node) => [node.name, node]));
  return faults(view, view.desired.machines, (health, { name }) => {
    const fault = kubeletFault(nodes.get(name), health);
    return fault && `is not ready: ${fault}`;
  });
}

/** A cordon of talosmith is waited for; only the person who has set another one lifts it. */
async function schedulable(view: HealthView): Promise<Verdict> {
  const { kubernetes } = await view.observed();
  const wanted = new Set(view.desired.machines.map(({ name }) => name));
  const nodes = kubernetes.kind === "reachable" ? kubernetes.nodes.filter(({ name }) => wanted.has(name)) : [];
  const own = nodes.some((node) => node.unschedulable && node.cordonedByUs);
  const verdict = await everyNode((node) => (node?.unschedulable ? "is cordoned" : undefined))(view);
  return verdict.kind !== "wrong" || own || kubernetes.kind === "unreachable"
    ? verdict
    : { ...verdict, byPerson: true };
}

async function componentsReady(view: HealthView, signal?: AbortSignal): Promise<Verdict> {
  const found = await Promise.all(
    controlPlanes(view).flatMap(({ name }) =>
      staticPodComponents.map(async (component) => {
        const reason = componentFault(component, await view.kubernetes.component(component, name, signal));
        return reason === undefined ? [] : [`${name}: ${reason}`];
      }),
    ),
  );
  return wrong(found.flat());
}

function workloadReady(kind: "daemonsets" | "deployments", name: string): Check {
  return async (view, signal) => {
    const without = deadNodes(view.desired, (await view.observed()).kubernetes);
    const status = await view.kubernetes.workload(kind, name, { without, runs: await runningIn(view), signal });
    if (status === undefined) return skip;
    return status.ready >= status.wanted ? ok : wrong([`${status.ready} of ${status.wanted} pods are ready`]);
  };
}

/** A pod that is ready by Kubernetes may be one of a backup, or of before a reboot: only its machine knows whether it runs. */
async function runningIn(view: HealthView): Promise<NonNullable<WorkloadOptions["runs"]>> {
  const { machines } = view.desired;
  const found = await Promise.all(
    machines.map(async (machine) => [machine.name, (await view.health(machine)).containers] as const),
  );
  const running = new Map(found);
  return (node, containers) => {
    const known = running.get(node);
    return known === undefined || containers.every((id) => known.has(id));
  };
}

/** Not among the checks of talosctl: a kube-proxy without a way to the API stays ready, and new Services get no rules. */
async function proxyFollows({ kubernetes }: HealthView, signal?: AbortSignal): Promise<Verdict> {
  return wrong(await kubernetes.proxyFaults(signal));
}

/** Without a network plugin nothing of this can come true, and it is not ours to install one. */
function withNetwork(check: Check): Check {
  return async (view, signal) => (view.desired.nodesBecomeReady ? check(view, signal) : skip);
}
