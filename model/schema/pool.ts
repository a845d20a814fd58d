// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import { patches } from "./cluster.ts";
import { count, name } from "./values.ts";

const labelNoun = "text; write numbers and true or false in quotes";

/** What a pool of machines may say whichever infrastructure it runs on. */
export const poolFields = {
  labels: z
    .record(z.string(), z.string({ error: labelNoun }))
    .default({})
    .describe("Kubernetes node labels."),
  taints: z
    .record(
      z.string(),
      z.string().regex(/^([^\s:]+:)?(NoSchedule|PreferNoSchedule|NoExecute)$/, {
        error: "value:effect or effect, with NoSchedule, PreferNoSchedule or NoExecute",
      }),
    )
    .default({})
    .describe("Kubernetes node taints: key to value:effect, or to effect alone."),
  patches: patches.default([]).describe("Talos config patches for the machines of this pool."),
};

export const workerFields = {
  name: name.default("w").describe("Name of the pool; its machines are <cluster>-<name>-1, -2, …"),
  count: count(0, 5_000).default(2).describe("Number of machines."),
};

export const controlPlaneFields = {
  count: count(1, 7).default(1).describe("Number of control planes; an odd one is wise."),
};
