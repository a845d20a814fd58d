// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import { conditions, metadata, type ObjectOf, objectName, observedGeneration, timestamp } from "./common.ts";

const poolRef = z.object({ name: objectName.describe("Name of the TalosMachinePool, in the same namespace.") });

/** How far the operator goes without a person. */
const manage = z
  .enum(["Observe", "Repair", "Create"])
  .default("Observe")
  .describe(
    "How far the operator goes: `Observe` reports, `Repair` also brings the machines of a deployed cluster to the spec, `Create` also creates the cluster and adds and removes machines.",
  );

const deletionPolicy = z
  .enum(["Retain", "Delete"])
  .default("Retain")
  .describe(
    "What happens to the cluster when the object is deleted: `Retain` leaves it running and keeps its secrets, `Delete` wipes its machines if the annotation talosmith.dev/confirm-delete has the object's name.",
  );

/** What a TalosCluster has beside the environment. */
export const clusterControls = z.object({
  manage,
  deletionPolicy,
  controlPlaneRef: poolRef.optional().describe("The control planes as a TalosMachinePool, instead of controlPlane."),
  workerRefs: z.array(poolRef).max(100).default([]).describe("Pools of workers as TalosMachinePools, after workers."),
});

const operation = z.object({
  name: z.string().describe("What is being done, such as Create or Repair."),
  step: z.int().describe("Finished steps."),
  steps: z.int().describe("Planned steps, as far as they are known."),
  message: z.string().describe("The step that finished last."),
  startedAt: timestamp("When it began."),
});

const member = z.object({
  name: z.string().describe("Name of the machine."),
  role: z.enum(["controlplane", "worker"]).describe("controlplane or worker."),
  address: z.string().describe("Where its Talos API answers."),
});

export const clusterStatus = z.object({
  observedGeneration,
  phase: z
    .enum(["Pending", "Creating", "Updating", "Ready", "NotReady", "RestoreNeeded", "Invalid", "Deleting"])
    .optional()
    .describe("The conditions in one word."),
  kind: z.string().optional().describe("Kind of infrastructure."),
  endpoint: z.string().optional().describe("URL of the Kubernetes API."),
  talosVersion: z.string().optional().describe("Oldest Talos version that runs."),
  kubernetesVersion: z.string().optional().describe("Oldest kubelet version that runs."),
  configContract: z
    .string()
    .optional()
    .describe("Version contract of the machine configs: upgrades of Talos keep it where the spec has none."),
  machines: z.int().optional().describe("Machines of the cluster."),
  readyMachines: z.int().optional().describe("Machines that are ready."),
  machineSummary: z.string().optional().describe("Ready machines of all, such as 3/3."),
  members: z.array(member).optional().describe("Machines that belong to the cluster, also those that are to leave."),
  operation: operation.optional().describe("What is being done now."),
  readySince: timestamp(
    "When the cluster was ready for the first time. From then on, etcd is never bootstrapped again.",
  ),
  conditions,
});

export type ClusterControls = Readonly<z.output<typeof clusterControls>>;
export type ClusterStatus = Readonly<z.output<typeof clusterStatus>>;
export type ClusterOperation = Readonly<z.output<typeof operation>>;

/** A TalosCluster: `spec` is the environment and the controls. */
export type ClusterObject = ObjectOf<ClusterControls & Readonly<Record<string, unknown>>, ClusterStatus>;

const schema = z.looseObject({
  metadata,
  spec: z.looseObject(clusterControls.shape),
  status: clusterStatus.prefault({}),
});

export const readCluster = (value: unknown): ClusterObject => schema.parse(value);
