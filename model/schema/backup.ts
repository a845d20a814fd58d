// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import { bucketSettings } from "../settings/index.ts";
import { shapeOf } from "./from-settings.ts";
import { count, cron, duration, timeZone } from "./values.ts";

/** Where snapshots of etcd go, when, and how long they stay. Credentials never stand here. */
export const backupSchema = z
  .strictObject({
    directory: z.string().min(1).optional().describe("A folder for backups, from the project's root or absolute."),
    s3: z
      .strictObject(shapeOf(bucketSettings, {}))
      .optional()
      .describe(
        "A bucket for backups. Default on AWS, where directory is not set either: one that is made with the cluster.",
      ),
    schedule: cron.optional().describe("When `operate` and `backup run` take one, as cron. Default: only by hand."),
    timeZone: timeZone.default("UTC").describe("Time zone of the schedule."),
    jitter: duration.prefault("0s").describe("Begin up to this much later than the schedule says."),
    keep: z
      .strictObject({
        count: count(1, 10_000).optional().describe("Keep the newest so many."),
        age: duration.optional().describe("Keep everything younger than this, such as 30d."),
      })
      .prefault({})
      .describe("What pruning leaves: all that one of the rules keeps. Default: everything."),
    pki: z
      .strictObject({
        ageRecipients: z
          .array(z.string().regex(/^age1[0-9a-z]+$/, { error: "an age recipient such as age1…" }))
          .min(1)
          .describe("Who can decrypt it."),
      })
      .optional()
      .describe("Put the secrets bundle beside each snapshot, encrypted with age. Default: not."),
  })
  .refine(({ directory, s3 }) => directory === undefined || s3 === undefined, {
    error: "one of directory and s3",
  })
  .optional()
  .describe("Backups of etcd. Default: none.");

export type BackupSection = NonNullable<z.output<typeof backupSchema>>;

/** What `talosmith operate` may do, and how often it looks. */
export const operateSchema = z
  .strictObject({
    repair: z
      .boolean()
      .default(false)
      .describe("Bring the machines back to this file when they differ, as far as no data is lost by it."),
    interval: duration.prefault("1m").describe("How often the machines are checked."),
  })
  .refine(({ interval }) => interval >= 5_000, { error: "an interval of at least 5s", path: ["interval"] })
  .prefault({})
  .describe("What talosmith operate does for this environment.");

export type OperateSection = z.output<typeof operateSchema>;
