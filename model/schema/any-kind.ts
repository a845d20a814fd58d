// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import { controlPlaneFields, poolFields, workerFields } from "./cluster.ts";

/** What holds for every kind: enough to check an environment whose kind cannot even be guessed. */
export const anyKind = {
  infrastructure: z.unknown(),
  controlPlane: z.looseObject({ ...controlPlaneFields, ...poolFields }),
  workers: z.array(z.looseObject({ ...workerFields, ...poolFields })).prefault([]),
} as const;
