// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import { conditions, metadata, type ObjectOf, objectName, observedGeneration } from "./common.ts";

/** What a TalosMachinePool has beside the fields of a pool. */
export const poolControls = z.object({
  replicas: z.int().min(0).max(5000).default(1).describe("Number of machines; `kubectl scale` changes it."),
  pool: objectName
    .optional()
    .describe(
      "Name of the pool in its cluster, and part of its machines' names. Default: the object's name, without the cluster's name and a hyphen before it.",
    ),
});

export const poolStatus = z.object({
  observedGeneration,
  cluster: z.string().optional().describe("The TalosCluster that refers to the pool."),
  role: z.enum(["controlplane", "worker"]).optional().describe("controlplane or worker."),
  replicas: z.int().optional().describe("Machines of the pool."),
  readyReplicas: z.int().optional().describe("Machines of the pool that are ready."),
  selector: z.string().optional().describe("Label selector of the pool's TalosMachines, for autoscalers."),
  conditions,
});

export type PoolStatus = Readonly<z.output<typeof poolStatus>>;
export type PoolObject = ObjectOf<
  Readonly<z.output<typeof poolControls>> & Readonly<Record<string, unknown>>,
  PoolStatus
>;

const schema = z.looseObject({
  metadata,
  spec: z.looseObject(poolControls.shape),
  status: poolStatus.prefault({}),
});

export const readPool = (value: unknown): PoolObject => schema.parse(value);
