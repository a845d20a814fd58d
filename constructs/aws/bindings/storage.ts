// SPDX-License-Identifier: Apache-2.0

type Tags = { readonly [key: string]: string };

/** Arguments of the storage, key, log and access resources of hashicorp/aws, as far as we use them. */
export interface StorageResources {
  aws_kms_key: {
    readonly description: string;
    readonly enable_key_rotation: boolean;
    readonly deletion_window_in_days: number;
    readonly policy: string;
    readonly tags: Tags;
  };
  aws_cloudwatch_log_group: {
    readonly name: string;
    readonly retention_in_days: number;
    readonly kms_key_id: string;
    readonly tags: Tags;
  };
  aws_s3_bucket: { readonly bucket_prefix: string; readonly force_destroy?: boolean; readonly tags: Tags };
  aws_s3_bucket_public_access_block: {
    readonly bucket: string;
    readonly block_public_acls: boolean;
    readonly block_public_policy: boolean;
    readonly ignore_public_acls: boolean;
    readonly restrict_public_buckets: boolean;
  };
  aws_s3_bucket_versioning: {
    readonly bucket: string;
    readonly versioning_configuration: { readonly status: "Enabled" };
  };
  aws_s3_bucket_server_side_encryption_configuration: {
    readonly bucket: string;
    readonly rule: {
      readonly bucket_key_enabled?: boolean;
      readonly apply_server_side_encryption_by_default:
        | { readonly sse_algorithm: "aws:kms"; readonly kms_master_key_id: string }
        | { readonly sse_algorithm: "AES256" };
    };
  };
  aws_s3_bucket_lifecycle_configuration: {
    readonly bucket: string;
    readonly rule: readonly {
      readonly id: string;
      readonly status: "Enabled";
      readonly filter: { readonly prefix: string };
      readonly expiration: { readonly days: number };
      readonly noncurrent_version_expiration: { readonly noncurrent_days: number };
      readonly abort_incomplete_multipart_upload: { readonly days_after_initiation: number };
    }[];
  };
  aws_s3_bucket_notification: { readonly bucket: string; readonly eventbridge: boolean };
  aws_s3_bucket_policy: { readonly bucket: string; readonly policy: string };
  aws_s3_bucket_logging: { readonly bucket: string; readonly target_bucket: string; readonly target_prefix: string };
  aws_iam_role: { readonly name: string; readonly assume_role_policy: string; readonly tags: Tags };
  aws_iam_role_policy: { readonly name: string; readonly role: string; readonly policy: string };
  aws_iam_instance_profile: { readonly name: string; readonly role: string; readonly tags: Tags };
}
