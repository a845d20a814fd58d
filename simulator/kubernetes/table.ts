// SPDX-License-Identifier: Apache-2.0
import { type KubernetesObject, type Tree, tree, valueAt } from "../machine/world.ts";
import { isUnschedulable, readyStatusOf } from "./node.ts";

interface Column {
  readonly name: string;
  /** Shown only with `-o wide`. */
  readonly wide?: boolean;
  /** @default string */
  readonly type?: "integer" | "boolean" | "date";
  readonly cell: (object: KubernetesObject, now: number) => unknown;
}

const name: Column = { name: "Name", cell: (object) => object.metadata.name };
const data: Column = { name: "Data", cell: (object) => Object.keys(tree(object.data)).length };
const age: Column = { name: "Age", cell: (object, now) => ageOf(object.metadata.creationTimestamp, now) };

const templateColumns: readonly Column[] = [
  { name: "Containers", wide: true, cell: (object) => containersOf(object, "name") },
  { name: "Images", wide: true, cell: (object) => containersOf(object, "image") },
  { name: "Selector", wide: true, cell: (object) => selectorText(dig(object, "spec.selector.matchLabels")) },
];

/** A column that reads one field, by the path to it. */
function field(title: string, path: string, otherwise: unknown = "", wide = false): Column {
  return { name: title, wide, cell: (object) => dig(object, path) ?? otherwise };
}

/** A column of a number. */
const count = (title: string, path: string): Column => ({ ...field(title, path, 0), type: "integer" });
const created: Column = { ...field("Created At", "metadata.creationTimestamp"), type: "date" };

const columns: Readonly<Record<string, readonly Column[]>> = {
  nodes: [
    name,
    { name: "Status", cell: nodeState },
    { name: "Roles", cell: nodeRoles },
    age,
    field("Version", "status.nodeInfo.kubeletVersion"),
    { name: "Internal-IP", wide: true, cell: (node) => internalAddress(node) },
    { name: "External-IP", wide: true, cell: () => "<none>" },
    field("OS-Image", "status.nodeInfo.osImage", "", true),
    field("Kernel-Version", "status.nodeInfo.kernelVersion", "", true),
    field("Container-Runtime", "status.nodeInfo.containerRuntimeVersion", "", true),
  ],
  pods: [
    name,
    { name: "Ready", cell: podReady },
    { name: "Status", cell: podState },
    { name: "Restarts", cell: () => "0" },
    age,
    field("IP", "status.podIP", "<none>", true),
    field("Node", "spec.nodeName", "<none>", true),
    { name: "Nominated Node", wide: true, cell: () => "<none>" },
    { name: "Readiness Gates", wide: true, cell: () => "<none>" },
  ],
  events: [
    {
      name: "Last Seen",
      cell: (event, now) => ageOf(String(event.lastTimestamp ?? event.metadata.creationTimestamp), now),
    },
    field("Type", "type"),
    field("Reason", "reason"),
    {
      name: "Object",
      cell: (event) =>
        `${String(dig(event, "involvedObject.kind")).toLowerCase()}/${String(dig(event, "involvedObject.name"))}`,
    },
    field("Subobject", "involvedObject.fieldPath", "", true),
    field("Source", "source.component", "", true),
    field("Message", "message"),
    {
      name: "First Seen",
      wide: true,
      cell: (event, now) => ageOf(String(event.firstTimestamp ?? event.metadata.creationTimestamp), now),
    },
    field("Count", "count", 1, true),
    { ...name, wide: true },
  ],
  endpoints: [name, { name: "Endpoints", cell: () => "<none>" }, age],
  clusterroles: [name, created],
  clusterrolebindings: [
    name,
    {
      name: "Role",
      cell: (binding) => `${String(dig(binding, "roleRef.kind"))}/${String(dig(binding, "roleRef.name"))}`,
    },
    age,
    ...["User", "Group", "ServiceAccount"].map((kind) => ({
      name: `${kind}s`,
      wide: true,
      cell: (binding: KubernetesObject) => subjectsOf(binding, kind),
    })),
  ],
  ingresses: [
    name,
    field("Class", "spec.ingressClassName", "<none>"),
    {
      name: "Hosts",
      cell: (ingress) =>
        ((dig(ingress, "spec.rules") ?? []) as readonly Tree[]).map(({ host }) => String(host ?? "*")).join(",") || "*",
    },
    { name: "Address", cell: () => "" },
    { name: "Ports", cell: (ingress) => (dig(ingress, "spec.tls") === undefined ? "80" : "80, 443") },
    age,
  ],
  networkpolicies: [
    name,
    { name: "Pod-Selector", cell: (policy) => selectorText(dig(policy, "spec.podSelector.matchLabels")) },
    age,
  ],
  namespaces: [name, field("Status", "status.phase", "Active"), age],
  services: [
    name,
    field("Type", "spec.type"),
    field("Cluster-IP", "spec.clusterIP", "<none>"),
    { name: "External-IP", cell: (service) => (dig(service, "spec.type") === "LoadBalancer" ? "<pending>" : "<none>") },
    { name: "Port(s)", cell: servicePorts },
    age,
    { name: "Selector", wide: true, cell: (service) => selectorText(dig(service, "spec.selector")) },
  ],
  deployments: [
    name,
    { name: "Ready", cell: readyOf },
    field("Up-to-date", "status.updatedReplicas", 0),
    field("Available", "status.availableReplicas", 0),
    age,
    ...templateColumns,
  ],
  replicasets: [
    name,
    count("Desired", "spec.replicas"),
    count("Current", "status.replicas"),
    count("Ready", "status.readyReplicas"),
    age,
    ...templateColumns,
  ],
  statefulsets: [name, { name: "Ready", cell: readyOf }, age, ...templateColumns.slice(0, 2)],
  daemonsets: [
    name,
    count("Desired", "status.desiredNumberScheduled"),
    count("Current", "status.currentNumberScheduled"),
    count("Ready", "status.numberReady"),
    count("Up-to-date", "status.updatedNumberScheduled"),
    count("Available", "status.numberAvailable"),
    { name: "Node Selector", cell: (set) => selectorText(dig(set, "spec.template.spec.nodeSelector")) },
    age,
    ...templateColumns,
  ],
  jobs: [
    name,
    { name: "Status", cell: (job) => (dig(job, "status.completionTime") === undefined ? "Running" : "Complete") },
    { name: "Completions", cell: (job) => pair(job, "status.succeeded", "spec.completions") },
    {
      name: "Duration",
      cell: (job, now) =>
        ageOf(
          job.metadata.creationTimestamp,
          Date.parse(String(dig(job, "status.completionTime") ?? new Date(now).toISOString())),
        ),
    },
    age,
    ...templateColumns,
  ],
  cronjobs: [
    name,
    field("Schedule", "spec.schedule"),
    field("Timezone", "spec.timeZone", "<none>"),
    { ...field("Suspend", "spec.suspend", false), type: "boolean" },
    { name: "Active", type: "integer", cell: () => 0 },
    { name: "Last Schedule", cell: () => "<none>" },
    age,
    ...templateColumns,
  ],
  configmaps: [name, data, age],
  secrets: [name, field("Type", "type"), data, age],
  persistentvolumeclaims: [
    name,
    field("Status", "status.phase"),
    field("Volume", "spec.volumeName"),
    field("Capacity", "status.capacity.storage"),
    { name: "Access Modes", cell: (claim) => accessModes(dig(claim, "status.accessModes")) },
    field("StorageClass", "spec.storageClassName"),
    field("VolumeAttributesClass", "spec.volumeAttributesClassName", "<unset>"),
    age,
    field("VolumeMode", "spec.volumeMode", "", true),
  ],
  persistentvolumes: [
    name,
    field("Capacity", "spec.capacity.storage"),
    { name: "Access Modes", cell: (volume) => accessModes(dig(volume, "spec.accessModes")) },
    field("Reclaim Policy", "spec.persistentVolumeReclaimPolicy"),
    field("Status", "status.phase"),
    { name: "Claim", cell: (volume) => pair(volume, "spec.claimRef.namespace", "spec.claimRef.name") },
    field("StorageClass", "spec.storageClassName"),
    field("VolumeAttributesClass", "spec.volumeAttributesClassName", "<unset>"),
    field("Reason", "status.reason"),
    age,
    field("VolumeMode", "spec.volumeMode", "", true),
  ],
  storageclasses: [
    name,
    field("Provisioner", "provisioner"),
    field("ReclaimPolicy", "reclaimPolicy"),
    field("VolumeBindingMode", "volumeBindingMode"),
    field("AllowVolumeExpansion", "allowVolumeExpansion", false),
    age,
  ],
  customresourcedefinitions: [name, created],
  leases: [name, field("Holder", "spec.holderIdentity"), age],
  poddisruptionbudgets: [
    name,
    field("Min Available", "spec.minAvailable", "N/A"),
    field("Max Unavailable", "spec.maxUnavailable", "N/A"),
    count("Allowed Disruptions", "status.disruptionsAllowed"),
    age,
  ],
};

/** The server-side table that kubectl prints. */
export function tableOf(resource: string, objects: readonly KubernetesObject[], revision: string, now: number): Tree {
  const shown = columns[resource] ?? [name, age];
  return {
    kind: "Table",
    apiVersion: "meta.k8s.io/v1",
    metadata: { resourceVersion: revision },
    columnDefinitions: shown.map((column) => ({
      name: column.name,
      type: column.type ?? "string",
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

/** The value at a dotted path. */
function dig(object: unknown, path: string): unknown {
  return valueAt(object, path.split("."));
}

function containersOf(object: KubernetesObject, key: "name" | "image"): string {
  const containers = (dig(object, "spec.template.spec.containers") ?? []) as readonly Tree[];
  return containers.map((container) => String(container[key])).join(",");
}

function selectorText(labels: unknown): string {
  const pairs = Object.entries((labels ?? {}) as Tree).map(([key, value]) => `${key}=${String(value)}`);
  return pairs.join(",") || "<none>";
}

function subjectsOf(binding: KubernetesObject, kind: string): string {
  const subjects = (dig(binding, "subjects") ?? []) as readonly Tree[];
  const named = subjects.filter((subject) => subject.kind === kind);
  return named
    .map(({ namespace, name: own }) => (namespace === undefined ? String(own) : `${String(namespace)}/${String(own)}`))
    .join(", ");
}

/** Two fields, such as how many there are of how many. */
function pair(object: KubernetesObject, left: string, right: string): string {
  return `${String(dig(object, left) ?? 0)}/${String(dig(object, right) ?? 0)}`;
}

function readyOf(object: KubernetesObject): string {
  return pair(object, "status.readyReplicas", "spec.replicas");
}

function servicePorts(service: KubernetesObject): string {
  const ports = (dig(service, "spec.ports") ?? []) as readonly Tree[];
  const shown = ports.map(({ port, nodePort, protocol }) => {
    const outside = nodePort === undefined ? "" : `:${String(nodePort)}`;
    return `${String(port)}${outside}/${String(protocol ?? "TCP")}`;
  });
  return shown.join(",") || "<none>";
}

const modeNames: Readonly<Record<string, string>> = {
  ReadWriteOnce: "RWO",
  ReadOnlyMany: "ROX",
  ReadWriteMany: "RWX",
  ReadWriteOncePod: "RWOP",
};

function accessModes(modes: unknown): string {
  return ((modes ?? []) as readonly string[]).map((mode) => modeNames[mode] ?? mode).join(",");
}

/** Why a container waits says more than the phase. */
function podState(pod: KubernetesObject): unknown {
  if (pod.metadata.deletionTimestamp !== undefined) return "Terminating";
  const statuses = (dig(pod, "status.containerStatuses") ?? []) as readonly Tree[];
  const waiting = statuses.map((status) => dig(status, "state.waiting.reason")).find((reason) => reason !== undefined);
  const phase = dig(pod, "status.phase");
  return waiting ?? (phase === "Succeeded" ? "Completed" : phase);
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

function internalAddress(node: KubernetesObject): unknown {
  const addresses = (dig(node, "status.addresses") ?? []) as readonly Tree[];
  return addresses.find((address) => address.type === "InternalIP")?.address ?? "<none>";
}

function podReady(pod: KubernetesObject): string {
  const containers = (dig(pod, "status.containerStatuses") ?? []) as readonly Tree[];
  return `${containers.filter((container) => container.ready === true).length}/${containers.length || 1}`;
}

function ageOf(created: string, now: number): string {
  const seconds = Math.max(0, Math.floor((now - Date.parse(created)) / 1_000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}
