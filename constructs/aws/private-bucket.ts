// SPDX-License-Identifier: Apache-2.0
import { Construct } from "constructs";
import { AwsResource } from "./bindings.ts";
import { policyDocument, type Statement } from "./policy.ts";

export interface PrivateBucketProps {
  /** Full name, for people; the bucket's own begins with it. */
  readonly name: string;
  /** Days after which objects are deleted. @default - never */
  readonly expireDays?: number | undefined;
  /** Whether a destroy may empty it; else S3 refuses to remove it while something is in it. @default false */
  readonly disposable?: boolean;
  /** KMS key to encrypt with. @default - S3's own */
  readonly keyArn?: string;
  /** Who else may write to it. `arn` is the bucket's. @default - nobody */
  readonly statements?: (arn: string) => readonly Statement[];
}

/** A bucket that is private, versioned, encrypted, and reached by TLS only. Deleted objects stay for a while. */
export class PrivateBucket extends Construct {
  readonly resource: AwsResource<"aws_s3_bucket">;
  readonly id: string;
  readonly arn: string;
  readonly bucketName: string;
  /** What has to be there before anybody else is told to write to it. */
  readonly policy: AwsResource<"aws_s3_bucket_policy">;

  constructor(scope: Construct, id: string, props: PrivateBucketProps) {
    super(scope, id);
    const { name, expireDays, disposable = false, keyArn, statements } = props;
    const bucket = new AwsResource(this, "Resource", "aws_s3_bucket", {
      // A prefix, because names of buckets are shared by all the world; of at most 37 characters.
      bucket_prefix: `${name.slice(0, 36)}-`,
      ...(disposable ? { force_destroy: true } : {}),
      tags: { Name: name },
    });
    this.resource = bucket;
    this.id = bucket.id;
    this.arn = bucket.arn;
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
    const encryption = new AwsResource(this, "encryption", "aws_s3_bucket_server_side_encryption_configuration", {
      bucket: bucket.id,
      rule:
        keyArn === undefined
          ? { apply_server_side_encryption_by_default: { sse_algorithm: "AES256" } }
          : {
              bucket_key_enabled: true,
              apply_server_side_encryption_by_default: { sse_algorithm: "aws:kms", kms_master_key_id: keyArn },
            },
    });
    // What is written to it by this name is encrypted from the first object on.
    this.bucketName = encryption.attribute("bucket");
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
            ...(expireDays === undefined ? {} : { expiration: { days: expireDays } }),
            noncurrent_version_expiration: { noncurrent_days: expireDays ?? 30 },
            abort_incomplete_multipart_upload: { days_after_initiation: 1 },
          },
        ],
      },
      { dependsOn: [versioning] },
    );
    // To EventBridge, where an alarm on a deleted object can listen; it costs nothing while nobody does.
    new AwsResource(this, "events", "aws_s3_bucket_notification", { bucket: bucket.id, eventbridge: true });
    const tlsOnly: Statement = {
      Sid: "TlsOnly",
      Effect: "Deny",
      Principal: "*",
      Action: "s3:*",
      Resource: [bucket.arn, `${bucket.arn}/*`],
      Condition: { Bool: { "aws:SecureTransport": "false" } },
    };
    this.policy = new AwsResource(this, "policy", "aws_s3_bucket_policy", {
      bucket: bucket.id,
      policy: policyDocument([tlsOnly, ...(statements?.(bucket.arn) ?? [])]),
    });
  }
}
