// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import { controlPlaneFields, poolFields, workerFields } from "./cluster.ts";
import { deletionProtection } from "./values.ts";

const worker = z.strictObject({ ...workerFields, ...poolFields });

/** Machines of the simulator: real Talos API, no hypervisor, nothing outside this computer. */
export const simulated = {
  kind: "simulated",
  infrastructure: z.strictObject({
    kind: z.literal("simulated").describe("Machines of the simulator on this computer."),
    deletionProtection,
  }),
  controlPlane: z.strictObject({ ...controlPlaneFields, ...poolFields }),
  worker,
  workers: z.array(worker).default([]),
} as const;

/** What holds for every kind: enough to check an environment whose kind cannot even be guessed. */
export const anyKind = {
  infrastructure: z.unknown(),
  controlPlane: z.looseObject({ ...controlPlaneFields, ...poolFields }),
  workers: z.array(z.looseObject({ ...workerFields, ...poolFields })).prefault([]),
} as const;
