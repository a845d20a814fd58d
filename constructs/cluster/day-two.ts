// SPDX-License-Identifier: Apache-2.0
// What is added to a running cluster: Helm releases and backups of etcd, as props and as arguments of their resources.
import { stringify } from "yaml";
import type { AddonArguments, EtcdSnapshotArguments } from "../talosmith/index.ts";

/** A Helm release. */
export interface AddonProps {
  /** Name of the Helm release. */
  readonly name: string;
  /** Namespace of the release; created where it does not exist. @default - the name */
  readonly namespace?: string | undefined;
  /** Name in the repository, `oci://…`, or a path such as `./charts/app`. */
  readonly chart: string;
  /** URL of the chart repository. @default - none, for `oci://` charts and paths */
  readonly repository?: string | undefined;
  /** Version of the chart. @default - the newest */
  readonly version?: string | undefined;
  /** Values of the chart, as an object or as YAML. They are in plan and state: no secrets. @default - the chart's */
  readonly values?: Readonly<Record<string, unknown>> | string | undefined;
  /** Files with further values, relative to the project's root; only their hash is in plan and state. @default - none */
  readonly valuesFiles?: readonly string[] | undefined;
  /** Credentials of a private repository or registry. @default - none */
  readonly credentials?: AddonCredentials | undefined;
  /** Whether it brings the pod network, for `cni: "none"`: every other add-on waits for it. @default false */
  readonly cni?: boolean | undefined;
  /** Add-ons of this cluster that must be ready before it; add them first. @default - none */
  readonly after?: readonly string[] | undefined;
  /** Wait until it is ready, and roll back where it does not become ready. @default true */
  readonly wait?: boolean | undefined;
  /** How long it may take. Milliseconds. @default 600000 */
  readonly timeout?: number | undefined;
}

/** Credentials of a chart repository or registry. Set one of `passwordEnv` and `passwordFile`. */
export interface AddonCredentials {
  /** User name. */
  readonly username: string;
  /** Environment variable that holds the password. @default - none */
  readonly passwordEnv?: string | undefined;
  /** File that holds the password, relative to the project's root. @default - none */
  readonly passwordFile?: string | undefined;
}

/** Where backups of etcd are stored. Set one of `directory` and `s3`. */
export interface BackupProps {
  /** Folder for backups, relative to the project's root or absolute. @default - none */
  readonly directory?: string | undefined;
  /** Bucket for backups. @default - none */
  readonly s3?: BackupBucketProps | undefined;
  /** Store the cluster's secrets with each snapshot, encrypted with age. @default - not stored */
  readonly pki?: BackupPkiProps | undefined;
}

/** A bucket of AWS or of an S3-compatible store. */
export interface BackupBucketProps {
  /** Name of the bucket. */
  readonly bucket: string;
  /** Beginning of every object's name. @default - the cluster's name */
  readonly prefix?: string | undefined;
  /** AWS region. @default - the AWS configuration's */
  readonly region?: string | undefined;
  /** URL of an S3-compatible store. @default - AWS */
  readonly endpoint?: string | undefined;
  /** Whether the bucket is in the path of URLs. @default - true where `endpoint` is set */
  readonly pathStyle?: boolean | undefined;
  /** Encryption by the store. @default - the bucket's */
  readonly sse?: "AES256" | "aws:kms" | undefined;
  /** Key for `aws:kms`. @default - the bucket's */
  readonly kmsKeyId?: string | undefined;
  /** AWS profile. @default - the AWS credential chain, including the instance role */
  readonly profile?: string | undefined;
}

/** Who can decrypt the secrets that are stored with snapshots. */
export interface BackupPkiProps {
  /** age public keys. */
  readonly ageRecipients: readonly string[];
}

/** An add-on as Terraform has it; what is undefined is left out. */
export function addonArguments(props: AddonProps): Omit<AddonArguments, "endpoints"> {
  const { name, namespace = name, chart, repository, version, cni, credentials, timeout = 600_000 } = props;
  const values = valuesText(props.values ?? "");
  return {
    name,
    namespace,
    chart,
    repository,
    version,
    values: values === "" ? undefined : [values],
    values_files: props.valuesFiles?.length === 0 ? undefined : props.valuesFiles,
    credentials: credentials && {
      username: credentials.username,
      password_env: credentials.passwordEnv,
      password_file: credentials.passwordFile,
    },
    cni: cni ? true : undefined,
    // A pod network ends with its cluster: without it nothing else could be taken down in order.
    on_destroy: cni ? "keep" : undefined,
    wait: props.wait === false ? false : undefined,
    timeout: timeout === 600_000 ? undefined : `${Math.ceil(timeout / 1000)}s`,
  };
}

function valuesText(values: NonNullable<AddonProps["values"]>): string {
  if (typeof values === "string") return values;
  return Object.keys(values).length === 0 ? "" : stringify(values, { sortMapEntries: true });
}

/** Where the backups of a cluster go, as Terraform has it; what is undefined is left out. */
export function backupArguments(
  { directory, s3, pki }: BackupProps,
  cluster: string,
): Pick<EtcdSnapshotArguments, "directory" | "s3" | "pki_age_recipients"> {
  return {
    directory,
    s3: s3 && {
      bucket: s3.bucket,
      prefix: s3.prefix ?? cluster,
      region: s3.region,
      endpoint: s3.endpoint,
      path_style: s3.pathStyle,
      sse: s3.sse,
      kms_key_id: s3.kmsKeyId,
      profile: s3.profile,
    },
    pki_age_recipients: pki?.ageRecipients,
  };
}
