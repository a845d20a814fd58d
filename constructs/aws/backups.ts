// SPDX-License-Identifier: Apache-2.0
import { Construct } from "constructs";
import { AwsResource } from "./bindings/index.ts";
import { policyDocument } from "./policy.ts";

export interface BackupBucketProps {
  readonly clusterName: string;
  readonly keyArn: string;
  readonly expireDays: number;
}

/** A bucket for etcd snapshots: private, versioned, encrypted, emptied after a while. */
export class BackupBucket extends Construct {
  readonly arn: string;
  readonly bucketName: string;

  constructor(scope: Construct, id: string, { clusterName, keyArn, expireDays }: BackupBucketProps) {
    super(scope, id);
    // A prefix, because names of buckets are shared by all the world.
    const prefix = `${clusterName.slice(0, 28)}-backups-`;
    const bucket = new AwsResource(this, "Resource", "aws_s3_bucket", {
      bucket_prefix: prefix,
      tags: { Name: `${clusterName}-backups` },
    });
    this.arn = bucket.arn;
    this.bucketName = bucket.attribute("bucket");
    new AwsResource(this, "private", "aws_s3_bucket_public_access_block", {
      bucket: bucket.id,
      block_public_acls: true,
      block_public_policy: true,
      ignore_public_acls: true,
      restrict_public_buckets: true,
    });
    const versioning = new AwsResource(this, "versions", "aws_s3_bucket_versioning", {
      bucket: bucket.id,
      versioning_configuration: { status: "Enabled" },
    });
    new AwsResource(this, "encryption", "aws_s3_bucket_server_side_encryption_configuration", {
      bucket: bucket.id,
      rule: {
        bucket_key_enabled: true,
        apply_server_side_encryption_by_default: { sse_algorithm: "aws:kms", kms_master_key_id: keyArn },
      },
    });
    new AwsResource(
      this,
      "lifecycle",
      "aws_s3_bucket_lifecycle_configuration",
      {
        bucket: bucket.id,
        rule: [
          {
            id: "expire",
            status: "Enabled",
            filter: { prefix: "" },
            expiration: { days: expireDays },
            noncurrent_version_expiration: { noncurrent_days: expireDays },
            abort_incomplete_multipart_upload: { days_after_initiation: 1 },
          },
        ],
      },
      { dependsOn: [versioning] },
    );
    new AwsResource(this, "logging", "aws_s3_bucket_logging", {
      bucket: bucket.id,
      target_bucket: bucket.id,
      target_prefix: "access-logs/",
    });
    new AwsResource(this, "policy", "aws_s3_bucket_policy", {
      bucket: bucket.id,
      policy: policyDocument([
        {
          Sid: "TlsOnly",
          Effect: "Deny",
          Principal: "*",
          Action: "s3:*",
          Resource: [bucket.arn, `${bucket.arn}/*`],
          Condition: { Bool: { "aws:SecureTransport": "false" } },
        },
        {
          Sid: "AccessLogs",
          Effect: "Allow",
          Principal: { Service: "logging.s3.amazonaws.com" },
          Action: "s3:PutObject",
          Resource: `${bucket.arn}/access-logs/*`,
          Condition: { ArnLike: { "aws:SourceArn": bucket.arn } },
        },
      ]),
    });
  }
}
