// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import { duration } from "./values.ts";

/** What `talosmith operate` may do, and how often it looks. */
export const operateSchema = z
  .strictObject({
    repair: z
      .boolean()
      .default(false)
      .describe("Bring the machines back to this file when they differ, as far as no data is lost by it."),
    interval: duration.prefault("1m").describe("How often the machines are looked at."),
  })
  .refine(({ interval }) => interval >= 5_000, { error: "an interval of at least 5s", path: ["interval"] })
  .prefault({})
  .describe("What talosmith operate does for this environment.");

export type OperateSection = z.output<typeof operateSchema>;
