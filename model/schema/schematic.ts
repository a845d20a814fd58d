// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";

/** What is added to a Talos image. */
export const schematic = z.strictObject({
  extensions: z.array(z.string().min(1)).default([]).describe("Official system extensions, as siderolabs/iscsi-tools."),
  kernelArgs: z.array(z.string().min(1)).default([]).describe("Further kernel arguments."),
});
