// SPDX-License-Identifier: Apache-2.0

import { uuidOf } from "../machine/chance.ts";
import { componentImages, type NodeConfig, type StaticPodName } from "../machine/node-config.ts";
import type { Component, KubernetesObject, Machine, Tree } from "../machine/world.ts";
import { kubernetesVersionOf } from "./node.ts";
import { conditionsOf, statusFor } from "./pod.ts";
import { type NewObject, timestamp } from "./store.ts";

export const staticPodRequests: Readonly<Record<StaticPodName, { readonly cpu: string; readonly memory: string }>> = {
  "kube-apiserver": { cpu: "200m", memory: "512Mi" },
  "kube-controller-manager": { cpu: "50m", memory: "256Mi" },
  "kube-scheduler": { cpu: "10m", memory: "64Mi" },
};

/** The manifest that Talos hands to the kubelet. */
export function staticPodManifest(name: StaticPodName, config: NodeConfig, version: number): Tree {
  const image = componentImages(config)[name];
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      annotations: {
        "talos.dev/config-file-version": "1",
        "talos.dev/config-version": String(version),
        "talos.dev/secrets-version": "1",
      },
      labels: labelsOf(name, image),
      name,
      namespace: "kube-system",
    },
    spec: {
      containers: [
        {
          command: [`/usr/local/bin/${name}`, "--profiling=false"],
          image,
          name,
          resources: { requests: staticPodRequests[name] },
        },
      ],
      hostNetwork: true,
      priority: 2_000_001_000,
      priorityClassName: "system-cluster-critical",
      securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
    },
  };
}

/** What the kubelet shows of a static pod. */
export function mirrorPod(
  name: string,
  node: KubernetesObject,
  machine: Machine,
  component: Component,
  ready: boolean,
  now: number,
): NewObject {
  const host = node.metadata.name;
  const hash = uuidOf(`${name}/${component.image}/${component.version}`).replaceAll("-", "");
  const pod: NewObject = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `${name}-${host}`,
      namespace: "kube-system",
      labels: labelsOf(name, component.image),
      annotations: {
        "kubernetes.io/config.hash": hash,
        "kubernetes.io/config.mirror": hash,
        "kubernetes.io/config.source": "http",
        "talos.dev/config-version": String(component.version),
        "talos.dev/secrets-version": "1",
      },
      ownerReferences: [{ apiVersion: "v1", kind: "Node", name: host, uid: node.metadata.uid, controller: true }],
    },
    spec: { nodeName: host, hostNetwork: true, containers: [{ name, image: component.image }] },
  };
  return {
    ...pod,
    status: statusFor(
      [{ name, image: component.image }],
      machine.address,
      machine.address,
      ready,
      now,
      component.restarts,
    ),
  };
}

/** The PodStatus that the kubelet reports for it. */
export function staticPodStatus(name: string, machine: Machine, ready: boolean): Tree {
  const at = timestamp(machine.staticPodsAt ?? machine.bootedAt);
  const conditions = conditionsOf(ready, at).map((held) => ({ ...held, lastProbeTime: null }));
  const begun = { type: "PodReadyToStartContainers", status: "True", lastTransitionTime: at, lastProbeTime: null };
  return {
    phase: "Running",
    conditions: [begun, ...conditions],
    hostIP: machine.address,
    hostIPs: [{ ip: machine.address }],
    podIP: machine.address,
    podIPs: [{ ip: machine.address }],
    startTime: at,
    containerStatuses: [{ name, ready, started: true, restartCount: 0, state: { running: { startedAt: at } } }],
    qosClass: "Burstable",
  };
}

function labelsOf(name: string, image: string): Readonly<Record<string, string>> {
  return {
    "app.kubernetes.io/component": "control-plane",
    "app.kubernetes.io/managed-by": "Talos",
    "app.kubernetes.io/name": name,
    "app.kubernetes.io/version": kubernetesVersionOf(image).slice(1),
    component: name,
    "k8s-app": name,
    tier: "control-plane",
  };
}
