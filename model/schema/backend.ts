// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import { url } from "./values.ts";

/** The environment variable with the passphrase. It is nowhere else: not in a file, not in the state. */
export const passphraseVariable = "TF_VAR_state_passphrase";

const encryption = z
  .literal("passphrase")
  .optional()
  .describe(`OpenTofu encrypts state and plans with the passphrase in ${passphraseVariable}. Terraform can't.`);

/** Where Terraform keeps its state. Credentials never stand here: the backends read them from the environment. */
export const backendSchema = z
  .discriminatedUnion(
    "kind",
    [
      z.strictObject({ kind: z.literal("local").describe("A file in state/ of the project."), encryption }),
      z.strictObject({
        kind: z.literal("s3").describe("An S3 bucket, shared with colleagues and CI."),
        bucket: z.string().min(3).describe("Name of the bucket; it has to be there."),
        region: z.string().min(1).describe("Its region."),
        key: z.string().min(1).optional().describe("Object in the bucket. Default: talosmith/<environment>.tfstate."),
        lockTable: z
          .string()
          .min(1)
          .optional()
          .describe("DynamoDB table for locks. Default: a lock file in the bucket."),
        endpoint: url.optional().describe("For S3-compatible stores."),
        encryption,
      }),
      z.strictObject({
        kind: z.literal("http").describe("A server that speaks Terraform's protocol, such as GitLab."),
        address: url.describe("Where the state is."),
        lockAddress: url.optional().describe("Where it is locked. Default: no locks."),
        unlockAddress: url.optional().describe("Where it is unlocked. Default: no locks."),
        encryption,
      }),
    ],
    { error: "a kind of state backend: local, s3 or http" },
  )
  .default({ kind: "local" })
  .describe("Where Terraform keeps its state.");

export type Backend = z.output<typeof backendSchema>;
