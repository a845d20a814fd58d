// SPDX-License-Identifier: Apache-2.0
import type * as z from "zod";
import { addonControls, addonStatus } from "../kinds/addon.ts";
import { backupSpec, backupStatus, scheduleSpec, scheduleStatus } from "../kinds/backup.ts";
import { clusterControls, clusterStatus } from "../kinds/cluster.ts";
import { group, type KindName, plurals, version } from "../kinds/common.ts";
import { machineSpec, machineStatus } from "../kinds/machine.ts";
import { poolControls, poolStatus } from "../kinds/pool.ts";
import { addonFields, infrastructureField, poolField, sectionFields, unchanged } from "./environment.ts";
import { bounded } from "./limits.ts";
import { merged, propertiesOf, type Schema, structuralOf } from "./structural.ts";

interface Column {
  readonly name: string;
  readonly jsonPath: string;
  readonly type?: "string" | "integer" | "date";
  readonly description: string;
  /** 1: only with `--output wide`. */
  readonly priority?: number;
}

interface Definition {
  readonly kind: KindName;
  readonly shortNames: readonly string[];
  readonly description: string;
  readonly spec: Schema;
  readonly status: z.ZodType;
  readonly columns: readonly Column[];
  readonly scale?: Schema;
  readonly rules?: readonly object[];
}

const ready = (description: string): Column => ({
  name: "Ready",
  jsonPath: '.status.conditions[?(@.type=="Ready")].status',
  description,
});
const phase: Column = { name: "Phase", jsonPath: ".status.phase", description: "The conditions in one word." };
const cluster: Column = { name: "Cluster", jsonPath: ".spec.clusterRef.name", description: "The cluster." };
const age: Column = { name: "Age", jsonPath: ".metadata.creationTimestamp", type: "date", description: "Age." };
const column = (name: string, jsonPath: string, description: string, more: Partial<Column> = {}): Column => ({
  name,
  jsonPath,
  description,
  ...more,
});
const wide = { priority: 1 } as const;

/** What `metadata.name` may be: it is the environment's name, and begins names of machines. */
const nameRule: Schema = {
  rule: "self.metadata.name.matches('^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$') && self.metadata.name != 'base'",
  message: "metadata.name: at most 40 lower-case letters, digits and hyphens that start with a letter, and not base",
};

function clusterSpec(): Schema {
  const { cluster: section = {}, ...others } = sectionFields();
  const controls = structuralOf(clusterControls);
  return {
    type: "object",
    description: "The environment, with the fields of an environment file, and how far the operator goes.",
    required: ["infrastructure"],
    properties: {
      ...propertiesOf(controls),
      infrastructure: infrastructureField(),
      cluster: bounded(section),
      controlPlane: { ...poolField("controlPlane"), description: "The control planes." },
      workers: {
        type: "array",
        description: "Pools of workers.",
        maxItems: 100,
        items: { ...poolField("workers[]") },
      },
      ...others,
    },
    "x-kubernetes-validations": [
      {
        rule: "has(self.controlPlane) != has(self.controlPlaneRef)",
        message: "exactly one of controlPlane and controlPlaneRef is required",
      },
    ],
  };
}

function poolSpec(): Schema {
  const controls = structuralOf(poolControls);
  const { name: _, count: __, ...fields } = propertiesOf(merged([poolField("controlPlane"), poolField("workers[]")]));
  return {
    type: "object",
    default: {},
    description: "The machines of the pool.",
    properties: { ...propertiesOf(controls), ...fields },
    "x-kubernetes-validations": [unchanged("pool")],
  };
}

function addonSpec(): Schema {
  const controls = structuralOf(addonControls);
  // Order among objects is by their readiness: a release is tried again until its cluster has what it needs.
  const { after: _, name, namespace, ...fields } = addonFields();
  const release = { ...name, maxLength: 53, description: "Name of the Helm release. Default: the object's name." };
  return {
    type: "object",
    description: "A Helm release on a cluster.",
    required: ["chart", "clusterRef"],
    properties: { ...propertiesOf(controls), name: release, namespace: { ...namespace, maxLength: 63 }, ...fields },
    "x-kubernetes-validations": [unchanged("clusterRef"), unchanged("name"), unchanged("namespace")],
  };
}

const withRules = (spec: z.ZodType, description: string, rules: readonly object[]): Schema => ({
  ...structuralOf(spec),
  description,
  "x-kubernetes-validations": rules,
});

const definitions = (): readonly Definition[] => [
  {
    kind: "TalosCluster",
    shortNames: ["tc"],
    description: "A Kubernetes cluster on Talos Linux.",
    spec: clusterSpec(),
    status: clusterStatus,
    rules: [nameRule],
    columns: [
      phase,
      ready("Whether the cluster is ready."),
      column("Machines", ".status.machineSummary", "Ready machines of all."),
      column("Talos", ".status.talosVersion", "Oldest Talos version that runs."),
      column("Kubernetes", ".status.kubernetesVersion", "Oldest kubelet version that runs."),
      column("Kind", ".spec.infrastructure.kind", "Kind of infrastructure.", wide),
      column("Manage", ".spec.manage", "How far the operator goes.", wide),
      column("Endpoint", ".status.endpoint", "URL of the Kubernetes API.", wide),
      column("Operation", ".status.operation.message", "The step that finished last.", wide),
      age,
    ],
  },
  {
    kind: "TalosMachinePool",
    shortNames: ["tmp", "tpool"],
    description:
      "Machines of a TalosCluster that are alike. The cluster refers to it by controlPlaneRef or workerRefs.",
    spec: poolSpec(),
    status: poolStatus,
    rules: [nameRule],
    columns: [
      column("Cluster", ".status.cluster", "The cluster that refers to the pool."),
      column("Role", ".status.role", "controlplane or worker."),
      column("Desired", ".spec.replicas", "Machines that the pool is to have.", { type: "integer" }),
      column("Machines", ".status.replicas", "Machines of the pool.", { type: "integer" }),
      column("Ready", ".status.readyReplicas", "Machines that are ready.", { type: "integer" }),
      age,
    ],
    scale: {
      specReplicasPath: ".spec.replicas",
      statusReplicasPath: ".status.replicas",
      labelSelectorPath: ".status.selector",
    },
  },
  {
    kind: "TalosMachine",
    shortNames: ["tm"],
    description: "A machine of a TalosCluster, written by the operator. Changes of it have no effect.",
    spec: withRules(machineSpec, "What the machine is in its cluster.", []),
    status: machineStatus,
    columns: [
      cluster,
      column("Role", ".spec.role", "controlplane or worker."),
      phase,
      ready("Whether the machine is ready."),
      column("Talos", ".status.talosVersion", "Talos version that runs."),
      column("Kubernetes", ".status.kubernetesVersion", "Version of its kubelet."),
      column("Address", ".status.address", "Where its Talos API answers.", wide),
      age,
    ],
  },
  {
    kind: "TalosEtcdBackup",
    shortNames: ["teb"],
    description: "One backup of a cluster's etcd, into the place that the cluster's spec.backup names.",
    spec: withRules(backupSpec, "Which cluster is backed up.", [
      { rule: "self == oldSelf", message: "a backup can't be changed after creation: create another one" },
    ]),
    status: backupStatus,
    columns: [
      cluster,
      phase,
      column("Size", ".status.bytes", "Size of the snapshot in bytes.", { type: "integer" }),
      column("Id", ".status.id", "Name of the backup in its place."),
      column("Place", ".status.place", "The folder or bucket that has it.", wide),
      column("SHA-256", ".status.sha256", "SHA-256 of the snapshot.", wide),
      age,
    ],
  },
  {
    kind: "TalosEtcdBackupSchedule",
    shortNames: ["tebs"],
    description: "Creates a TalosEtcdBackup at the times of a schedule.",
    spec: withRules(scheduleSpec, "When which cluster is backed up.", [unchanged("clusterRef")]),
    status: scheduleStatus,
    columns: [
      cluster,
      column("Schedule", ".spec.schedule", "When backups are taken."),
      column("Suspended", ".spec.suspend", "Whether no further backups are taken."),
      column("Last", ".status.lastSuccessfulTime", "When the last backup that succeeded ended.", { type: "date" }),
      column("Next", ".status.nextScheduleTime", "The next time that a backup begins."),
      age,
    ],
  },
  {
    kind: "TalosClusterAddon",
    shortNames: ["tca"],
    description: "A Helm release on a TalosCluster.",
    spec: addonSpec(),
    status: addonStatus,
    columns: [
      cluster,
      phase,
      ready("Whether the release is what the spec says."),
      column("Chart", ".status.chart", "Chart and version that are installed."),
      column("Revision", ".status.revision", "Revision of the release.", { type: "integer" }),
      age,
    ],
  },
];

export interface CustomResourceDefinition {
  readonly kind: "CustomResourceDefinition";
  readonly metadata: { readonly name: string };
  readonly [field: string]: unknown;
}

/** The definitions of all kinds, as they are applied. */
export function customResourceDefinitions(): readonly CustomResourceDefinition[] {
  return definitions().map(definitionObject);
}

function definitionObject({ kind, shortNames, columns, scale, ...rest }: Definition): CustomResourceDefinition {
  const plural = plurals[kind];
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: kind.toLowerCase(),
        shortNames,
        categories: ["talosmith"],
      },
      scope: "Namespaced",
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          additionalPrinterColumns: columns.map((shown) => ({ type: "string", ...shown })),
          schema: { openAPIV3Schema: objectSchema(rest) },
          subresources: { status: {}, ...(scale && { scale }) },
        },
      ],
    },
  };
}

function objectSchema({
  description,
  spec,
  status,
  rules,
}: Omit<Definition, "kind" | "shortNames" | "columns">): Schema {
  return {
    type: "object",
    description,
    required: ["spec"],
    properties: {
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: { type: "object" },
      spec,
      status: { ...structuralOf(status), description: "What was observed." },
    },
    ...(rules && { "x-kubernetes-validations": rules }),
  };
}
