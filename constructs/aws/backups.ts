// SPDX-License-Identifier: Apache-2.0
import { Construct } from "constructs";
import type { AwsIdentity } from "./account.ts";
import { AwsResource } from "./bindings.ts";
import { allow, type Statement } from "./policy.ts";
import { PrivateBucket } from "./private-bucket.ts";

export interface BackupBucketProps {
  readonly clusterName: string;
  readonly identity: AwsIdentity;
  readonly keyArn: string;
  /** Days after which S3 deletes a backup. @default - never */
  readonly expireDays?: number | undefined;
  /** Whether talosmith deletes backups. */
  readonly prunes: boolean;
  /** Whether a destroy has to leave the log, too. */
  readonly keepLog: boolean;
}

/** A bucket for etcd snapshots, and one for the log of who touched them. */
export class BackupBucket extends Construct {
  readonly bucketName: string;
  /** What it takes to put snapshots into the bucket and to get them out. */
  readonly policy: readonly Statement[];

  constructor(scope: Construct, id: string, props: BackupBucketProps) {
    super(scope, id);
    const { clusterName, identity, keyArn, expireDays, keepLog, prunes } = props;
    const name = `${clusterName.slice(0, 28)}-backups`;
    const bucket = new PrivateBucket(this, "Default", { name, expireDays, keyArn });
    this.bucketName = bucket.bucketName;
    this.policy = [
      allow("List", prunes ? ["s3:ListBucket", "s3:ListBucketMultipartUploads"] : "s3:ListBucket", bucket.arn),
      allow("ReadAndWrite", ["s3:AbortMultipartUpload", "s3:GetObject", "s3:PutObject"], `${bucket.arn}/*`),
      ...(prunes ? [allow("Prune", "s3:DeleteObject", `${bucket.arn}/*`)] : []),
      allow("Encrypt", ["kms:Decrypt", "kms:GenerateDataKey"], keyArn),
    ];
    // S3 delivers access logs only to a bucket that is encrypted without a KMS key.
    const logs = new PrivateBucket(this, "logs", {
      name: `${name}-logs`,
      expireDays: 365,
      disposable: !keepLog,
      statements: (arn) => [
        {
          Sid: "AccessLogs",
          Effect: "Allow",
          Principal: { Service: "logging.s3.amazonaws.com" },
          Action: "s3:PutObject",
          Resource: `${arn}/*`,
          Condition: {
            ArnLike: { "aws:SourceArn": bucket.arn },
            StringEquals: { "aws:SourceAccount": identity.account },
          },
        },
      ],
    });
    // Backups that are still there end a destroy before their log is emptied.
    bucket.resource.dependOn(logs.resource);
    // S3 refuses a place for logs that its logging service may not write to yet.
    new AwsResource(
      this,
      "logging",
      "aws_s3_bucket_logging",
      { bucket: bucket.id, target_bucket: logs.id, target_prefix: "access/" },
      { dependsOn: [logs.policy] },
    );
  }
}
