// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";

export const trustOnFirstUse = z
  .boolean()
  .default(false)
  .describe(
    "Apply the initial config, which holds the CA keys, to whatever answers at a machine's address. Only in a network where nobody else can answer there.",
  );
