// SPDX-License-Identifier: Apache-2.0
import type { Construct } from "constructs";
import { AwsResource } from "./bindings.ts";
import { type PolicyScope, policyDocument } from "./policy.ts";

/** A key for the cluster's backups and logs, turned over every year, that the account's administrators control. */
export function createEncryptionKey(
  scope: Construct,
  id: string,
  { identity: { account, partition }, region, clusterName }: PolicyScope,
): string {
  return new AwsResource(scope, id, "aws_kms_key", {
    description: `Backups and logs of ${clusterName}`,
    enable_key_rotation: true,
    deletion_window_in_days: 30,
    policy: policyDocument([
      {
        Sid: "Administrators",
        Effect: "Allow",
        Principal: { AWS: `arn:${partition}:iam::${account}:root` },
        Action: "kms:*",
        Resource: "*",
      },
      {
        Sid: "Logs",
        Effect: "Allow",
        Principal: { Service: `logs.${region}.amazonaws.com` },
        Action: ["kms:Decrypt", "kms:Encrypt", "kms:GenerateDataKey*", "kms:ReEncrypt*"],
        Resource: "*",
        Condition: {
          ArnLike: { "kms:EncryptionContext:aws:logs:arn": `arn:${partition}:logs:${region}:${account}:*` },
        },
      },
    ]),
    tags: { Name: clusterName },
  }).arn;
}
