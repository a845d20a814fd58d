// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import { given } from "../../talos/given.ts";
import { randomHex } from "../machine/chance.ts";
import type { Moment } from "../machine/timings.ts";
import {
  type Cluster,
  type KubernetesObject,
  type Machine,
  specOf,
  statusOf,
  type Tree,
  tree,
} from "../machine/world.ts";
import { listObjects, type NewObject, timestamp, updateObject } from "./store.ts";

interface Template {
  readonly metadata?: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: Tree;
}

export function templateOf(owner: KubernetesObject): Template {
  return specOf<{ template?: Template }>(owner).template ?? {};
}

/** Ten letters that change with the template. */
export function templateHash(owner: KubernetesObject): string {
  return createHash("sha256")
    .update(JSON.stringify(templateOf(owner)))
    .digest("hex")
    .slice(0, 10);
}

export function ownerReference(owner: KubernetesObject): Tree {
  const { name, uid } = owner.metadata;
  return { apiVersion: owner.apiVersion, kind: owner.kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/** A pod from its owner's template, not yet on a node. */
export function podFrom(
  owner: KubernetesObject,
  name: string,
  labels: Readonly<Record<string, string>> = {},
  spec: Tree = {},
): NewObject {
  const template = templateOf(owner);
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: given({
      name,
      namespace: owner.metadata.namespace,
      labels: { ...template.metadata?.labels, ...labels },
      annotations: template.metadata?.annotations,
      ownerReferences: [ownerReference(owner)],
    }),
    spec: withAccount({ ...template.spec, ...spec }),
    status: { phase: "Pending" },
  };
}

const tokenVolume = "kube-api-access-";

/** The spec as the API server admits it: with an account, and where it may use the API, with token and CA. */
export function withAccount(spec: Tree): Tree {
  const { serviceAccountName = "default", automountServiceAccountToken } = spec;
  const volumes = (spec.volumes ?? []) as readonly { readonly name: string }[];
  if (automountServiceAccountToken === false || volumes.some(({ name }) => name.startsWith(tokenVolume)))
    return { ...spec, serviceAccountName };
  const suffix = createHash("sha256").update(JSON.stringify(spec)).digest("hex").slice(0, 5);
  const sources = [{ configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } }];
  const volume = { name: `${tokenVolume}${suffix}`, projected: { sources, defaultMode: 420 } };
  return { ...spec, serviceAccountName, volumes: [...volumes, volume] };
}

export function usesApi(pod: KubernetesObject): boolean {
  const { volumes = [] } = specOf<{ volumes?: readonly { readonly name: string }[] }>(pod);
  return volumes.some(({ name }) => name.startsWith(tokenVolume));
}

export function podsOf(cluster: Cluster, owner: KubernetesObject): KubernetesObject[] {
  return listObjects(cluster, "pods", owner.metadata.namespace).filter((pod) => ownedBy(pod, owner.metadata.uid));
}

/** Without those that are being stopped. */
export function livingPods(cluster: Cluster, owner: KubernetesObject): KubernetesObject[] {
  return podsOf(cluster, owner).filter((pod) => !isStopping(pod));
}

export function ownedBy(object: KubernetesObject, uid: string): boolean {
  const owners = object.metadata.ownerReferences as readonly { readonly uid: string }[] | undefined;
  return owners?.some((owner) => owner.uid === uid) === true;
}

export function nodeNameOf(pod: KubernetesObject): string | undefined {
  return specOf<{ nodeName?: string }>(pod).nodeName;
}

export function isStopping(pod: KubernetesObject): boolean {
  return pod.metadata.deletionTimestamp !== undefined;
}

/** A name that no other pod of the cluster has. */
export function podName(owner: KubernetesObject, moment: Moment): string {
  return `${owner.metadata.name}-${randomHex(moment.entropy, 3).slice(0, 5)}`;
}

/** A daemon set's pod on a node: its name follows from both, so that there is one. */
export function daemonPod(set: KubernetesObject, node: string, hash: string): NewObject {
  const suffix = createHash("sha256").update(`${set.metadata.uid}/${node}`).digest("hex").slice(0, 5);
  return podFrom(set, `${set.metadata.name}-${suffix}`, { "controller-revision-hash": hash }, { nodeName: node });
}

/** The container of a pod by its place in it, in the boot of the machine that it was started in. */
export function containerId(
  { metadata }: KubernetesObject,
  { bootId }: Pick<Machine, "bootId">,
  index: number,
): string {
  const digits = `${metadata.uid}${bootId}`.replaceAll("-", "").slice(0, 63);
  return `${digits.padEnd(63, "0")}${(index % 16).toString(16)}`;
}

/** Whether its containers are of this boot of the machine: neither of a snapshot nor of before a reboot. */
export function runsOn(pod: KubernetesObject, machine: Pick<Machine, "bootId">): boolean {
  const statuses = statusOf<{ containerStatuses?: readonly { containerID?: string }[] }>(pod).containerStatuses ?? [];
  return statuses.every(({ containerID }, index) => containerID === `containerd://${containerId(pod, machine, index)}`);
}

/** What a kubelet shows of a static pod; its containers are Talos's matter. */
export function isMirror({ metadata }: KubernetesObject): boolean {
  return metadata.annotations?.["kubernetes.io/config.mirror"] !== undefined;
}

/** The status of a pod whose containers run on a machine; undefined where the machine is not known. */
export function runningStatus(
  pod: KubernetesObject,
  machine: Pick<Machine, "address" | "bootId"> | undefined,
  ready: boolean,
  now: number,
): Tree {
  const host = machine?.address ?? "";
  const spec = pod.spec as { hostNetwork?: boolean } | undefined;
  const digest = createHash("sha256").update(pod.metadata.uid).digest();
  const address =
    spec?.hostNetwork === true ? host : `10.244.${digest.readUInt8(0)}.${2 + (digest.readUInt8(1) % 250)}`;
  const status = statusFor(containersOf(pod), host, address, ready, now);
  if (machine === undefined) return status;
  const containerStatuses = status.containerStatuses.map((each, index) => {
    return { ...each, containerID: `containerd://${containerId(pod, machine, index)}` };
  });
  return { ...status, containerStatuses };
}

/** The status of a pod that waits for an image which can't be had. */
export function waitingStatus(pod: KubernetesObject, hostIP: string, container: string, now: number): Tree {
  const at = timestamp(now);
  const unready = { reason: "ContainersNotReady", message: `containers with unready status: [${container}]` };
  const stateOf = ({ name, image }: Container) => ({
    waiting:
      name === container
        ? { reason: "ImagePullBackOff", message: `Back-off pulling image "${image}"` }
        : { reason: "ContainerCreating" },
  });
  return {
    phase: "Pending",
    conditions: conditionsOf(false, at).map((held) => (held.status === "False" ? { ...held, ...unready } : held)),
    hostIP,
    startTime: at,
    containerStatuses: containersOf(pod).map((held) => ({ ...containerStatus(held, stateOf(held)), imageID: "" })),
  };
}

/** The status of a job's pod that has done its work. */
export function succeededStatus(pod: KubernetesObject, now: number): Tree {
  const at = timestamp(now);
  const { startTime = at, ...status } = pod.status as Tree;
  const terminated = { exitCode: 0, reason: "Completed", startedAt: startTime, finishedAt: at };
  return {
    ...status,
    startTime,
    phase: "Succeeded",
    conditions: conditionsOf(false, at).map((held) => ({ ...held, reason: "PodCompleted" })),
    containerStatuses: containersOf(pod).map((held) => containerStatus(held, { terminated })),
  };
}

interface Container {
  readonly name: string;
  readonly image: string;
}

function containersOf(pod: KubernetesObject): readonly Container[] {
  return specOf<{ containers?: readonly Container[] }>(pod).containers ?? [];
}

export function statusFor(
  containers: readonly Container[],
  hostIP: string,
  podIP: string,
  ready: boolean,
  now: number,
  restarts = 0,
) {
  const at = timestamp(now);
  return {
    phase: "Running",
    conditions: conditionsOf(ready, at),
    hostIP,
    hostIPs: [{ ip: hostIP }],
    podIP,
    podIPs: [{ ip: podIP }],
    startTime: at,
    containerStatuses: containers.map((held) => containerStatus(held, { running: { startedAt: at } }, ready, restarts)),
  };
}

export function conditionsOf(ready: boolean, lastTransitionTime: string) {
  const met = { Initialized: true, Ready: ready, ContainersReady: ready, PodScheduled: true };
  return Object.entries(met).map(([type, held]) => ({ type, status: held ? "True" : "False", lastTransitionTime }));
}

function containerStatus({ name, image }: Container, state: object, ready = false, restartCount = 0) {
  return { name, image, imageID: image, ready, started: "running" in state, restartCount, state };
}

/** Tells a pod to stop; it is gone a little later. */
export function stopPod(cluster: Cluster, pod: KubernetesObject, moment: Moment): Cluster {
  if (isStopping(pod)) return cluster;
  const metadata = { ...pod.metadata, deletionTimestamp: timestamp(moment.now), deletionGracePeriodSeconds: 30 };
  const stopping = updateObject(cluster, "pods", { ...pod, metadata });
  const key = `${pod.metadata.namespace ?? ""}/${pod.metadata.name}`;
  return { ...stopping, terminating: { ...stopping.terminating, [key]: moment.now + moment.timings.podStop } };
}

export function stopPods(cluster: Cluster, pods: readonly KubernetesObject[], moment: Moment): Cluster {
  return pods.reduce((next, pod) => stopPod(next, pod, moment), cluster);
}

/**
 * Whether a registry would give this image. There is none behind the simulator: every well-formed reference is there,
 * except one whose tag says otherwise (`missing`, `no-such-tag` …), which is how a bad release is rehearsed.
 */
export function imageExists(reference: string): boolean {
  if (!/^[\w.-]+(:\d+)?(\/[\w.-]+)*(:[\w.-]+)?(@sha256:[0-9a-f]+)?$/.test(reference)) return false;
  const tag = /:([^/:@]+)(?:@.*)?$/.exec(reference)?.[1] ?? "latest";
  return !/missing|no-such|does-?not-?exist/.test(tag);
}

/** The first container of the pod whose image can't be had. */
export function unpullable(pod: KubernetesObject): { readonly name: string; readonly image: string } | undefined {
  const spec = tree(pod.spec);
  const containers = [spec.initContainers, spec.containers].flatMap((list) => (Array.isArray(list) ? list : []));
  return containers.find((container) => !imageExists(String(container.image ?? ""))) as
    | { name: string; image: string }
    | undefined;
}
