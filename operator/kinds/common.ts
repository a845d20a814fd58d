// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";

export const group = "talosmith.dev";
export const version = "v1alpha1";
export const apiVersion = `${group}/${version}`;

/** The kinds of objects, with their plurals as in paths. */
export const plurals = {
  TalosCluster: "talosclusters",
  TalosMachinePool: "talosmachinepools",
  TalosMachine: "talosmachines",
  TalosEtcdBackup: "talosetcdbackups",
  TalosEtcdBackupSchedule: "talosetcdbackupschedules",
  TalosClusterAddon: "talosclusteraddons",
} as const;

export type KindName = keyof typeof plurals;

/** What every object carries, as far as it is read. */
export const metadata = z.looseObject({
  name: z.string(),
  namespace: z.string(),
  uid: z.string(),
  resourceVersion: z.string(),
  generation: z.number().default(1),
  creationTimestamp: z.string().optional(),
  deletionTimestamp: z.string().optional(),
  annotations: z.record(z.string(), z.string()).default({}),
  labels: z.record(z.string(), z.string()).default({}),
  finalizers: z.array(z.string()).default([]),
  ownerReferences: z.array(z.looseObject({ uid: z.string() })).default([]),
});

export type Metadata = Readonly<z.output<typeof metadata>>;

/** An object of one of the kinds, read at the edge. */
export interface ObjectOf<Spec, Status> {
  readonly metadata: Metadata;
  readonly spec: Spec;
  readonly status: Status;
}

const time = z.string().meta({ format: "date-time" });

/** A condition by the conventions of the Kubernetes API. */
const condition = z.object({
  type: z.string().describe("Name of the condition, in CamelCase."),
  status: z.enum(["True", "False", "Unknown"]).describe("True, False or Unknown."),
  observedGeneration: z.int().optional().describe("Generation of the object that the condition is about."),
  lastTransitionTime: time.describe("Since when the status is what it is."),
  reason: z.string().describe("The reason as one word in CamelCase, for programs."),
  message: z.string().describe("The reason for people."),
});

export type StatusCondition = Readonly<z.output<typeof condition>>;

export const conditions = z
  .array(condition)
  .default([])
  .describe("What was observed of the object, by the conventions of the Kubernetes API.");

export const observedGeneration = z.int().optional().describe("Generation of the object that the status is about.");

export const timestamp = (description: string) => time.optional().describe(description);

/** The name of an object of this namespace. */
export const objectName = z.string().min(1).max(63);

export const clusterRef = z
  .object({ name: objectName.describe("Name of the TalosCluster, in the same namespace.") })
  .describe("The cluster.");
