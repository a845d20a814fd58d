// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import { randomHex, uuidOf } from "../machine/chance.ts";
import type { Moment } from "../machine/moment.ts";
import type { KubernetesObject, Machine } from "../machine/world.ts";
import { kubernetesVersionOf } from "./node.ts";
import { type NewObject, timestamp } from "./store.ts";

interface Template {
  readonly metadata?: { readonly labels?: Readonly<Record<string, string>> };
  readonly spec?: Readonly<Record<string, unknown>>;
}

function templateOf(owner: KubernetesObject): Template {
  return (owner.spec as { template?: Template } | undefined)?.template ?? {};
}

function ownedBy(owner: KubernetesObject): Readonly<Record<string, unknown>> {
  const { name, uid } = owner.metadata;
  return { apiVersion: owner.apiVersion, kind: owner.kind, name, uid, controller: true, blockOwnerDeletion: true };
}

function podOf(owner: KubernetesObject, name: string, node: string): NewObject {
  const template = templateOf(owner);
  const { namespace } = owner.metadata;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      labels: template.metadata?.labels ?? {},
      ownerReferences: [ownedBy(owner)],
    },
    spec: { ...template.spec, nodeName: node },
    status: { phase: "Pending", conditions: [{ type: "PodScheduled", status: "True" }] },
  };
}

/** A daemon set's pod on a node: its name follows from both, so that there is one. */
export function daemonPod(set: KubernetesObject, node: string): NewObject {
  const suffix = createHash("sha256").update(`${set.metadata.uid}/${node}`).digest("hex").slice(0, 5);
  return podOf(set, `${set.metadata.name}-${suffix}`, node);
}

export function replicaPod(set: KubernetesObject, node: string, moment: Moment): NewObject {
  return podOf(set, `${set.metadata.name}-${randomHex(moment.entropy, 3).slice(0, 5)}`, node);
}

/** What the kubelet shows of a static pod. */
export function mirrorPod(
  name: string,
  node: string,
  machine: Machine,
  component: { readonly image: string; readonly version: number },
  now: number,
): NewObject {
  const hash = uuidOf(`${name}/${component.image}/${component.version}`).replaceAll("-", "");
  const pod: NewObject = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `${name}-${node}`,
      namespace: "kube-system",
      labels: {
        "app.kubernetes.io/component": "control-plane",
        "app.kubernetes.io/managed-by": "Talos",
        "app.kubernetes.io/name": name,
        "app.kubernetes.io/version": kubernetesVersionOf(component.image).slice(1),
        component: name,
        "k8s-app": name,
        tier: "control-plane",
      },
      annotations: {
        "kubernetes.io/config.hash": hash,
        "kubernetes.io/config.mirror": hash,
        "kubernetes.io/config.source": "http",
        "talos.dev/config-version": String(component.version),
        "talos.dev/secrets-version": "1",
      },
      ownerReferences: [{ apiVersion: "v1", kind: "Node", name: node, uid: machine.id, controller: true }],
    },
    spec: { nodeName: node, hostNetwork: true, containers: [{ name, image: component.image }] },
  };
  return { ...pod, status: statusFor([{ name, image: component.image }], machine.address, machine.address, true, now) };
}

/** The status of a pod whose containers run. */
export function runningStatus(
  pod: KubernetesObject,
  host: string,
  ready: boolean,
  now: number,
): Readonly<Record<string, unknown>> {
  const spec = pod.spec as
    | { hostNetwork?: boolean; containers?: readonly { name: string; image: string }[] }
    | undefined;
  const digest = createHash("sha256").update(pod.metadata.uid).digest();
  const address =
    spec?.hostNetwork === true ? host : `10.244.${digest.readUInt8(0)}.${2 + (digest.readUInt8(1) % 250)}`;
  return statusFor(spec?.containers ?? [], host, address, ready, now);
}

function statusFor(
  containers: readonly { readonly name: string; readonly image: string }[],
  hostIP: string,
  podIP: string,
  ready: boolean,
  now: number,
): Readonly<Record<string, unknown>> {
  const at = timestamp(now);
  const status = ready ? "True" : "False";
  const condition = (type: string, value: string) => ({ type, status: value, lastTransitionTime: at });
  return {
    phase: "Running",
    conditions: [
      condition("Initialized", "True"),
      condition("Ready", status),
      condition("ContainersReady", status),
      condition("PodScheduled", "True"),
    ],
    hostIP,
    podIP,
    podIPs: [{ ip: podIP }],
    startTime: at,
    containerStatuses: containers.map(({ name, image }) => ({
      name,
      image,
      imageID: image,
      ready,
      started: true,
      restartCount: 0,
      state: { running: { startedAt: at } },
    })),
  };
}
