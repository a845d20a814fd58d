// SPDX-License-Identifier: Apache-2.0

import { given } from "../../talos/given.ts";
import { uuidOf } from "../machine/chance.ts";
import { kernel } from "../machine/hardware.ts";
import type { NodeConfig } from "../machine/node-config.ts";
import { type Cluster, type KubernetesObject, type Machine, specOf, statusOf, type Tree } from "../machine/world.ts";
import { type NewObject, timestamp } from "./store.ts";

interface NodeCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly lastHeartbeatTime: string;
  readonly lastTransitionTime: string;
}

/** The version after the `v` of an image tag: `…/kubelet:v1.36.3-slim` gives `v1.36.3`. */
export function kubernetesVersionOf(image: string): string {
  return /:(v\d+\.\d+\.\d+(?:-(?:alpha|beta|rc)\.\d+)?)/.exec(image)?.[1] ?? "v0.0.0";
}

/** With which a kubelet registers that a cloud controller manager has to follow; nothing here takes it away. */
const uninitialized = { key: "node.cloudprovider.kubernetes.io/uninitialized", value: "true", effect: "NoSchedule" };

/** The Node that a kubelet registers. `index` numbers the nodes of the cluster, for the pod network. */
export function newNode(name: string, machine: Machine, config: NodeConfig, index: number, now: number): NewObject {
  const controlPlane = config.type === "controlplane";
  const podCidr = podCidrOf(config.podSubnets[0] ?? "10.244.0.0/16", index);
  const taints = [...(config.externalCloudProvider ? [uninitialized] : []), ...config.taints].map(
    ({ key, value, effect }) => given({ key, effect, value: value || undefined }),
  );
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      labels: given({
        "beta.kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "node-role.kubernetes.io/control-plane": controlPlane ? "" : undefined,
        ...config.labels,
      }),
      annotations: {
        "flannel.alpha.coreos.com/backend-type": "vxlan",
        "flannel.alpha.coreos.com/kube-subnet-manager": "true",
        "flannel.alpha.coreos.com/public-ip": machine.address,
        "networking.talos.dev/self-ips": machine.address,
        "node.alpha.kubernetes.io/ttl": "0",
        "volumes.kubernetes.io/controller-managed-attach-detach": "true",
      },
    },
    spec: given({
      podCIDR: podCidr,
      podCIDRs: [podCidr],
      providerID: config.providerId,
      taints: taints.length === 0 ? undefined : taints,
    }),
    status: nodeStatus(name, machine, config, "False", now),
  };
}

/** The whole status of a node whose kubelet reports. */
export function nodeStatus(
  name: string,
  machine: Machine,
  config: NodeConfig,
  ready: "True" | "False",
  now: number,
): Tree {
  const capacity = {
    cpu: "4",
    "ephemeral-storage": "18242404Ki",
    "hugepages-2Mi": "0",
    memory: "8126524Ki",
    pods: "110",
  };
  return {
    addresses: [
      { type: "InternalIP", address: machine.address },
      { type: "Hostname", address: name },
    ],
    allocatable: { ...capacity, cpu: "3950m", memory: "7732284Ki" },
    capacity,
    conditions: conditions(ready, now),
    daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
    nodeInfo: {
      architecture: "amd64",
      bootID: machine.bootId,
      containerRuntimeVersion: "containerd://2.2.4",
      kernelVersion: kernel.version,
      kubeProxyVersion: "",
      kubeletVersion: kubernetesVersionOf(config.images.kubelet),
      machineID: uuidOf(`machine-id/${machine.id}`).replaceAll("-", ""),
      operatingSystem: "linux",
      osImage: `Talos (${machine.talosVersion})`,
      systemUUID: machine.id,
    },
  };
}

function conditions(ready: "True" | "False", now: number): readonly NodeCondition[] {
  const at = { lastHeartbeatTime: timestamp(now), lastTransitionTime: timestamp(now) };
  const pressure = (type: string, reason: string, message: string): NodeCondition => {
    return { type, status: "False", reason, message, ...at };
  };
  const readiness = {
    True: { reason: "KubeletReady", message: "kubelet is posting ready status" },
    False: {
      reason: "KubeletNotReady",
      message:
        "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized",
    },
  }[ready];
  return [
    pressure("MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    pressure("DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    pressure("PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    { type: "Ready", status: ready, ...readiness, ...at },
  ];
}

export function readyStatusOf(node: KubernetesObject): string {
  const { conditions = [] } = statusOf<{ conditions: readonly NodeCondition[] }>(node);
  return conditions.find((condition) => condition.type === "Ready")?.status ?? "Unknown";
}

/** When its kubelet, or the controller that misses it, last reported the node. */
export function heartbeatOf(node: KubernetesObject): string {
  const { conditions = [] } = statusOf<{ conditions: readonly NodeCondition[] }>(node);
  return conditions.find((condition) => condition.type === "Ready")?.lastHeartbeatTime ?? "";
}

export function isNodeReady(node: KubernetesObject): boolean {
  return readyStatusOf(node) === "True";
}

export function isUnschedulable(node: KubernetesObject): boolean {
  return specOf<{ unschedulable: boolean }>(node).unschedulable === true;
}

/** The n-th /24 of the pod network. */
function podCidrOf(subnet: string, index: number): string {
  const [address = "10.244.0.0"] = subnet.split("/");
  const [a = "10", b = "244"] = address.split(".");
  return `${a}.${Number(b) + Math.floor(index / 256)}.${index % 256}.0/24`;
}

export const nodeLeaseNamespace = "kube-node-lease";

/** Kubelets renew every ten seconds. */
const period = 10_000;

/** The lease that a kubelet holds for its node. */
export function nodeLease(node: KubernetesObject, now: number): NewObject {
  const { name, uid } = node.metadata;
  return {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: {
      name,
      namespace: nodeLeaseNamespace,
      ownerReferences: [{ apiVersion: "v1", kind: "Node", name, uid }],
    },
    spec: { holderIdentity: name, leaseDurationSeconds: 40, renewTime: microTime(now) },
  };
}

/**
 * A node's lease as it reads now. Renewals follow from the kubelet's record when somebody looks: a write every ten
 * seconds for each of a thousand idle nodes would be most of what the simulator does.
 */
export function leaseAsOf(cluster: Cluster, object: KubernetesObject, now: number): KubernetesObject {
  if (object.kind !== "Lease" || object.metadata.namespace !== nodeLeaseNamespace) return object;
  const record = cluster.kubelets[object.metadata.name];
  if (record === undefined) return object;
  const heard = record.silentSince ?? now;
  const renewed = heard - ((heard - record.registeredAt) % period);
  return { ...object, spec: { ...(object.spec as object), renewTime: microTime(renewed) } };
}

function microTime(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, -1)}000Z`;
}
