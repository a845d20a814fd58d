// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import { scalingPoolLabel } from "../../model/settings/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { given } from "../../talos/given.ts";
import { oneLine } from "../../talos/plain-text.ts";
import type { WorkloadStatus } from "../machines.ts";
import type { KubernetesNode } from "../observed.ts";

/** Our mark on a cordon, so that we lift ours and nobody else's. */
export const cordonMark = "talosmith.internal/cordoned";

const condition = z.object({
  type: z.string(),
  status: z.string(),
  message: z.string().default(""),
  lastHeartbeatTime: z.coerce.date().optional().catch(undefined),
});

const metadata = z.object({
  name: z.string(),
  namespace: z.string().default(""),
  annotations: z.record(z.string(), z.string()).default({}),
  labels: z.record(z.string(), z.string()).default({}),
  creationTimestamp: z.string().default(""),
  deletionTimestamp: z.string().optional(),
  ownerReferences: z
    .array(z.object({ kind: z.string(), name: z.string().default(""), controller: z.boolean().default(false) }))
    .default([]),
});

const nodeSchema = z.object({
  metadata,
  spec: z.object({ unschedulable: z.boolean().default(false) }).default({ unschedulable: false }),
  status: z.object({
    addresses: z.array(z.object({ type: z.string(), address: z.string() })).default([]),
    conditions: z.array(condition).default([]),
    nodeInfo: z.object({ kubeletVersion: z.string() }).default({ kubeletVersion: "" }),
  }),
});

const containerStatus = z.object({
  /** Such as `containerd://` and 64 hex digits; empty before it starts. */
  containerID: z.string().default(""),
  state: z
    .object({ waiting: z.object({ reason: z.string().default(""), message: z.string().default("") }).optional() })
    .default({}),
});

const podSchema = z.object({
  metadata,
  spec: z.object({
    nodeName: z.string().default(""),
    volumes: z.array(z.object({ name: z.string() })).default([]),
    containers: z.array(z.object({ name: z.string(), image: z.string().default("") })).default([]),
  }),
  status: z
    .object({
      phase: z.string().default(""),
      conditions: z.array(condition).default([]),
      initContainerStatuses: z.array(containerStatus).default([]),
      containerStatuses: z.array(containerStatus).default([]),
    })
    .default({ phase: "", conditions: [], initContainerStatuses: [], containerStatuses: [] }),
});

const workloadSchema = z.object({
  metadata: z.object({ generation: z.number().optional() }).default({}),
  spec: z
    .object({
      replicas: z.number().optional(),
      template: z.object({ spec: podSchema.shape.spec }).optional(),
      selector: z.object({ matchLabels: z.record(z.string(), z.string()).default({}) }).optional(),
    })
    .default({}),
  status: z
    .object({
      observedGeneration: z.number().optional(),
      desiredNumberScheduled: z.number().optional(),
      updatedNumberScheduled: z.number().optional(),
      updatedReplicas: z.number().optional(),
    })
    .default({}),
});

export type Pod = z.infer<typeof podSchema>;

export const nodePath = (name: string): string => `/api/v1/nodes/${encodeURIComponent(name)}`;

export function readNodes(answer: unknown): KubernetesNode[] {
  return read(z.object({ items: z.array(nodeSchema).default([]) }), answer, "nodes").items.map(toNode);
}

export function readNode(answer: unknown): KubernetesNode {
  return toNode(read(nodeSchema, answer, "node"));
}

export function readPods(answer: unknown): Pod[] {
  return read(z.object({ items: z.array(podSchema).default([]) }), answer, "pods").items;
}

export function readPod(answer: unknown): Pod {
  return read(podSchema, answer, "pod");
}

/** A daemon set counts its nodes, a deployment its replicas. What its controller has not seen yet, no pod has. */
export function readWorkload(answer: unknown): Omit<WorkloadStatus, "ready"> {
  const { metadata: own, spec, status } = read(workloadSchema, answer, "a workload");
  const wanted = status.desiredNumberScheduled ?? spec.replicas ?? 0;
  const seen = own.generation === undefined || own.generation === status.observedGeneration;
  return {
    wanted,
    updated: seen ? (status.updatedNumberScheduled ?? status.updatedReplicas ?? 0) : 0,
  };
}

/** The labels of a workload's pods, as a selector. */
export function readSelector(answer: unknown): string {
  const labels = read(workloadSchema, answer, "a workload").spec.selector?.matchLabels ?? {};
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(",");
}

/** Ids of a pod's containers, without `containerd://`. */
export function containersOf({ status }: Pod): readonly string[] {
  return status.containerStatuses.map(({ containerID }) => containerID.replace(/^\w+:\/\//, ""));
}

/** The version in the image of a workload's container of that name, without v. */
export function readWorkloadVersion(answer: unknown, container: string): string | undefined {
  const { spec } = read(workloadSchema, answer, "a workload");
  return versionOf(spec.template?.spec.containers.find(({ name }) => name === container)?.image ?? "");
}

/** Why a container of the pod does not run, in the kubelet's words; undefined where none waits. */
export function waitingReason({ status }: Pod): string | undefined {
  const all = [...status.initContainerStatuses, ...status.containerStatuses].flatMap(
    ({ state }) => state.waiting ?? [],
  );
  // Others only wait for the one that has a reason.
  const waiting = all.find(({ message }) => message !== "") ?? all[0];
  if (waiting === undefined) return undefined;
  return oneLine([waiting.reason, waiting.message].filter((text) => text !== "").join(": "));
}

/** The version that an image's tag names, without v; undefined for a tag that is none, as others' builds may have. */
export function versionOf(image: string): string | undefined {
  return /:v(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)(?:@.*)?$/.exec(image)?.[1];
}

export function isReady(object: {
  readonly status: { readonly conditions: readonly z.infer<typeof condition>[] };
}): boolean {
  return object.status.conditions.some(({ type, status }) => type === "Ready" && status === "True");
}

function toNode(node: z.infer<typeof nodeSchema>): KubernetesNode {
  const ready = isReady(node);
  const condition = node.status.conditions.find(({ type }) => type === "Ready");
  const reason = condition?.message || undefined;
  return {
    name: node.metadata.name,
    ready,
    ...given({ reason: ready ? undefined : reason && oneLine(reason), reportedAt: condition?.lastHeartbeatTime }),
    unschedulable: node.spec.unschedulable,
    cordonedByUs: cordonMark in node.metadata.annotations,
    controlPlane: "node-role.kubernetes.io/control-plane" in node.metadata.labels,
    ...given({ scalingPool: node.metadata.labels[scalingPoolLabel] }),
    addresses: node.status.addresses.filter(({ type }) => type === "InternalIP").map(({ address }) => address),
    kubeletVersion: node.status.nodeInfo.kubeletVersion,
  };
}

function read<T>(schema: z.ZodType<T>, answer: unknown, what: string): T {
  const result = schema.safeParse(answer);
  if (result.success) return result.data;
  throw new TalosError(
    "internal",
    `Kubernetes: the answer about ${what} is not understood: ${z.prettifyError(result.error)}`,
  );
}
