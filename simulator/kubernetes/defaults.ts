// SPDX-License-Identifier: Apache-2.0

import { createHash } from "node:crypto";
import { isTree, type Tree, tree } from "../machine/world.ts";
import type { NewObject } from "./store.ts";

const workloadDefaults: Readonly<Record<string, Tree>> = {
  Deployment: {
    replicas: 1,
    revisionHistoryLimit: 10,
    progressDeadlineSeconds: 600,
    strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%", maxUnavailable: "25%" } },
  },
  ReplicaSet: { replicas: 1 },
  StatefulSet: {
    replicas: 1,
    podManagementPolicy: "OrderedReady",
    revisionHistoryLimit: 10,
    updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 0 } },
  },
  DaemonSet: {
    revisionHistoryLimit: 10,
    updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } },
  },
  Job: { completions: 1, parallelism: 1, backoffLimit: 6, completionMode: "NonIndexed", suspend: false },
};

/** What the API server fills in before it stores an object, as far as clients and controllers look at it. */
export function withDefaults(object: NewObject): NewObject {
  const spec = tree(object.spec);
  const workload = workloadDefaults[object.kind];
  if (workload !== undefined) {
    const template = isTree(spec.template) ? { template: withPodDefaults(spec.template, object.kind) } : {};
    return { ...object, spec: { ...fill(spec, withoutForeignStrategy(workload, spec)), ...template } };
  }
  switch (object.kind) {
    case "Pod":
      return withOwnDefaults({ ...object, ...withPodDefaults(object, "Pod") });
    case "CustomResourceDefinition":
      return { ...object, spec: definitionSpec(spec) };
    case "Event":
      return {
        eventTime: null,
        firstTimestamp: null,
        lastTimestamp: null,
        reportingComponent: "",
        reportingInstance: "",
        source: {},
        ...object,
      };
    case "Namespace": {
      const labels = { "kubernetes.io/metadata.name": object.metadata.name, ...object.metadata.labels };
      const metadata = { ...object.metadata, labels };
      return { ...object, metadata, spec: { finalizers: ["kubernetes"] }, status: { phase: "Active" } };
    }
    case "Secret":
      return withPlainSecret(object);
    case "Service":
      return { ...object, spec: serviceSpec(spec), status: object.status ?? { loadBalancer: {} } };
    case "PersistentVolumeClaim":
      return { ...object, spec: { volumeMode: "Filesystem", ...spec }, status: object.status ?? { phase: "Pending" } };
    case "StorageClass":
      return { reclaimPolicy: "Delete", volumeBindingMode: "Immediate", ...object };
    default:
      return object;
  }
}

/** `Recreate` and `OnDelete` have no rolling part. */
function withoutForeignStrategy(workload: Tree, spec: Tree): Tree {
  const name = workload.strategy === undefined ? "updateStrategy" : "strategy";
  const type = isTree(spec[name]) ? spec[name].type : undefined;
  return type === undefined || type === "RollingUpdate" ? workload : { ...workload, [name]: {} };
}

/** Every field that is absent, at any depth of maps. */
function fill(value: Tree, defaults: Tree): Tree {
  const result: Record<string, unknown> = { ...value };
  for (const [key, standard] of Object.entries(defaults)) {
    const held = result[key];
    if (held === undefined || held === null) result[key] = standard;
    else if (isTree(held) && isTree(standard)) result[key] = fill(held, standard);
  }
  return result;
}

function withPodDefaults(pod: Tree, owner: string): Tree {
  const spec = tree(pod.spec);
  const filled = fill(spec, {
    restartPolicy: owner === "Job" ? "OnFailure" : "Always",
    terminationGracePeriodSeconds: 30,
    dnsPolicy: "ClusterFirst",
    schedulerName: "default-scheduler",
    securityContext: {},
  });
  const lists = ["containers", "initContainers"].flatMap((name) =>
    Array.isArray(spec[name]) ? [[name, spec[name].map(withContainerDefaults)] as const] : [],
  );
  return { ...pod, spec: { ...filled, ...Object.fromEntries(lists) } };
}

/** What a pod has and a template has not. */
function withOwnDefaults(pod: NewObject): NewObject {
  const spec = tree(pod.spec);
  const { serviceAccountName } = spec;
  const own = {
    enableServiceLinks: true,
    preemptionPolicy: "PreemptLowerPriority",
    priority: 0,
    ...(serviceAccountName === undefined ? {} : { serviceAccount: serviceAccountName }),
  };
  const status = pod.status ?? { phase: "Pending", qosClass: "BestEffort" };
  return { ...pod, spec: fill(spec, own), status };
}

function definitionSpec(spec: Tree): Tree {
  const names = tree(spec.names);
  const kind = String(names.kind);
  return fill(spec, {
    conversion: { strategy: "None" },
    names: { listKind: `${kind}List`, singular: kind.toLowerCase() },
  });
}

function withContainerDefaults(container: unknown): unknown {
  if (!isTree(container)) return container;
  const image = String(container.image ?? "");
  const latest = !image.includes("@") && (/:latest$/.test(image) || !/:[^/]+$/.test(image));
  const ports = Array.isArray(container.ports)
    ? { ports: container.ports.map((port: unknown) => (isTree(port) ? { protocol: "TCP", ...port } : port)) }
    : {};
  return {
    imagePullPolicy: latest ? "Always" : "IfNotPresent",
    resources: {},
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
    ...container,
    ...ports,
  };
}

/** `stringData` is for writing only. */
function withPlainSecret({ stringData, ...secret }: NewObject): NewObject {
  const added = Object.entries(tree(stringData)).map(
    ([key, text]) => [key, Buffer.from(String(text)).toString("base64")] as const,
  );
  const data = { ...tree(secret.data), ...Object.fromEntries(added) };
  const plain = { type: "Opaque", ...secret };
  return added.length > 0 ? { ...plain, data } : plain;
}

function serviceSpec(spec: Tree): Tree {
  const full = {
    type: "ClusterIP",
    sessionAffinity: "None",
    internalTrafficPolicy: "Cluster",
    ...spec,
  };
  if (!Array.isArray(spec.ports)) return full;
  return { ...full, ports: spec.ports.map((port: unknown) => (isTree(port) ? servicePort(port) : port)) };
}

/** Typed clients write a node port of 0 when they want none. */
function servicePort({ nodePort, ...port }: Tree): Tree {
  const kept = nodePort === undefined || nodePort === 0 ? {} : { nodePort };
  return { protocol: "TCP", targetPort: port.port, ...port, ...kept };
}

/** The address of a service inside the service network: always the same for the same service. */
export function serviceAddress(subnet: string, uid: string): string {
  const [address = "", length = ""] = subnet.split("/");
  const number = createHash("sha256").update(uid).digest().readUInt32BE(0);
  if (address.includes(":")) return `${address.replace(/::$/, "")}::${(1 + (number % 0xffff)).toString(16)}`;
  const base = address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
  // The first ones belong to the API server and DNS.
  const chosen = base + 16 + (number % Math.max(1, 2 ** (32 - Number(length)) - 17));
  return [24, 16, 8, 0].map((bits) => Math.floor(chosen / 2 ** bits) % 256).join(".");
}
