// SPDX-License-Identifier: Apache-2.0
// What is added to a running cluster: Helm releases and backups of etcd, as props and as arguments of their resources.
import { stringify } from "yaml";
import { addonSettings, argumentsOf, bucketSettings } from "../../model/settings/index.ts";
import { given } from "../../talos/given.ts";
import type { AddonArguments, EtcdSnapshotArguments } from "../talosmith/bindings.ts";
import type { AddonProps, BackupBucketProps } from "./setting-props.ts";

/** Where backups of etcd are stored. Set one of `directory` and `s3`. */
export interface BackupProps {
  /** Folder for backups, relative to the project's root or absolute. @default - none */
  readonly directory?: string | undefined;
  /** Bucket for backups. @default - none */
  readonly s3?: BackupBucketProps | undefined;
  /** Store the cluster's secrets with each snapshot, encrypted with age. @default - not stored */
  readonly pki?: BackupPkiProps | undefined;
}

/** Who can decrypt the secrets that are stored with snapshots. */
export interface BackupPkiProps {
  /** age public keys. */
  readonly ageRecipients: readonly string[];
}

/** An add-on as Terraform has it. */
export function addonArguments(props: AddonProps): Omit<AddonArguments, "endpoints"> {
  const { name, namespace = name, cni } = props;
  const values = valuesText(props.values ?? "");
  return {
    ...argumentsOf(addonSettings, { ...props, namespace }),
    ...given({
      values: values === "" ? undefined : [values],
      // A pod network ends with its cluster: without it nothing else could be taken down in order.
      on_destroy: cni ? "keep" : undefined,
    }),
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
    s3: s3 && argumentsOf(bucketSettings, { ...s3, prefix: s3.prefix ?? cluster }),
    pki_age_recipients: pki?.ageRecipients,
  };
}
