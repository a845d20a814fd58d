// SPDX-License-Identifier: Apache-2.0
import type { KubernetesObject } from "../machine/world.ts";
import { isUnschedulable, readyStatusOf } from "./node.ts";

interface Column {
  readonly name: string;
  /** Shown only with `-o wide`. */
  readonly wide?: boolean;
  readonly cell: (object: KubernetesObject, now: number) => unknown;
}

type Any = Readonly<Record<string, unknown>>;

const name: Column = { name: "Name", cell: (object) => object.metadata.name };
const age: Column = { name: "Age", cell: (object, now) => ageOf(object.metadata.creationTimestamp, now) };

const columns: Readonly<Record<string, readonly Column[]>> = {
  nodes: [
    name,
    { name: "Status", cell: nodeState },
    { name: "Roles", cell: nodeRoles },
    age,
    { name: "Version", cell: (node) => nodeInfo(node).kubeletVersion },
    { name: "Internal-IP", wide: true, cell: (node) => internalAddress(node) },
    { name: "External-IP", wide: true, cell: () => "<none>" },
    { name: "OS-Image", wide: true, cell: (node) => nodeInfo(node).osImage },
    { name: "Kernel-Version", wide: true, cell: (node) => nodeInfo(node).kernelVersion },
    { name: "Container-Runtime", wide: true, cell: (node) => nodeInfo(node).containerRuntimeVersion },
  ],
  pods: [
    name,
    { name: "Ready", cell: podReady },
    {
      name: "Status",
      cell: (pod) => (pod.metadata.deletionTimestamp === undefined ? at(pod.status, "phase") : "Terminating"),
    },
    { name: "Restarts", cell: () => "0" },
    age,
    { name: "IP", wide: true, cell: (pod) => at(pod.status, "podIP") ?? "<none>" },
    { name: "Node", wide: true, cell: (pod) => at(pod.spec, "nodeName") ?? "<none>" },
    { name: "Nominated Node", wide: true, cell: () => "<none>" },
    { name: "Readiness Gates", wide: true, cell: () => "<none>" },
  ],
  events: [
    {
      name: "Last Seen",
      cell: (event, now) => ageOf(String(event.lastTimestamp ?? event.metadata.creationTimestamp), now),
    },
    { name: "Type", cell: (event) => event.type },
    { name: "Reason", cell: (event) => event.reason },
    {
      name: "Object",
      cell: (event) => `${String(at(event.involvedObject, "kind")).toLowerCase()}/${at(event.involvedObject, "name")}`,
    },
    { name: "Message", cell: (event) => event.message },
  ],
  namespaces: [name, { name: "Status", cell: (namespace) => at(namespace.status, "phase") ?? "Active" }, age],
  deployments: [
    name,
    {
      name: "Ready",
      cell: (object) => `${at(object.status, "readyReplicas") ?? 0}/${at(object.spec, "replicas") ?? 0}`,
    },
    { name: "Up-to-date", cell: (object) => at(object.status, "updatedReplicas") ?? 0 },
    { name: "Available", cell: (object) => at(object.status, "availableReplicas") ?? 0 },
    age,
  ],
  daemonsets: [
    name,
    { name: "Desired", cell: (object) => at(object.status, "desiredNumberScheduled") ?? 0 },
    { name: "Current", cell: (object) => at(object.status, "currentNumberScheduled") ?? 0 },
    { name: "Ready", cell: (object) => at(object.status, "numberReady") ?? 0 },
    age,
  ],
  poddisruptionbudgets: [
    name,
    { name: "Min Available", cell: (object) => at(object.spec, "minAvailable") ?? "N/A" },
    { name: "Max Unavailable", cell: (object) => at(object.spec, "maxUnavailable") ?? "N/A" },
    { name: "Allowed Disruptions", cell: (object) => at(object.status, "disruptionsAllowed") ?? 0 },
    age,
  ],
};

/** The server-side table that kubectl prints. */
export function tableOf(resource: string, objects: readonly KubernetesObject[], revision: string, now: number): Any {
  const shown = columns[resource] ?? [name, age];
  return {
    kind: "Table",
    apiVersion: "meta.k8s.io/v1",
    metadata: { resourceVersion: revision },
    columnDefinitions: shown.map((column) => ({
      name: column.name,
      type: "string",
      format: column.name === "Name" ? "name" : "",
      description: "",
      priority: column.wide ? 1 : 0,
    })),
    rows: objects.map((object) => ({
      cells: shown.map((column) => column.cell(object, now) ?? ""),
      object: { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: object.metadata },
    })),
  };
}

function at(value: unknown, key: string): unknown {
  return (value as Any | undefined)?.[key];
}

function nodeState(node: KubernetesObject): string {
  const ready = { True: "Ready", False: "NotReady", Unknown: "NotReady" }[readyStatusOf(node)] ?? "Unknown";
  return isUnschedulable(node) ? `${ready},SchedulingDisabled` : ready;
}

function nodeRoles(node: KubernetesObject): string {
  const prefix = "node-role.kubernetes.io/";
  const roles = Object.keys(node.metadata.labels ?? {}).filter((label) => label.startsWith(prefix));
  return (
    roles
      .map((label) => label.slice(prefix.length))
      .sort()
      .join(",") || "<none>"
  );
}

function nodeInfo(node: KubernetesObject): Any {
  return (at(node.status, "nodeInfo") ?? {}) as Any;
}

function internalAddress(node: KubernetesObject): unknown {
  const addresses = (at(node.status, "addresses") ?? []) as readonly Any[];
  return addresses.find((address) => address.type === "InternalIP")?.address ?? "<none>";
}

function podReady(pod: KubernetesObject): string {
  const containers = (at(pod.status, "containerStatuses") ?? []) as readonly Any[];
  return `${containers.filter((container) => container.ready === true).length}/${containers.length || 1}`;
}

function ageOf(created: string, now: number): string {
  const seconds = Math.max(0, Math.floor((now - Date.parse(created)) / 1_000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}
