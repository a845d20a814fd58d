// SPDX-License-Identifier: Apache-2.0
import type { Place } from "../../engine/backup/index.ts";
import { given } from "../../talos/given.ts";
import { DiagnosticError } from "../framework/index.ts";

/** Where a backup lies and what it is called. */
export interface SnapshotAddress {
  readonly place: Place;
  readonly backup: string;
  readonly cluster: string;
}

type S3 = NonNullable<Place["s3"]>;

/** What may follow the URL of a backup in S3, as the attributes are called. Undefined: that value is not allowed. */
const settings = new Map<string, (value: string) => Partial<S3> | undefined>([
  ["region", (region) => ({ region })],
  ["endpoint", (endpoint) => ({ endpoint })],
  ["path_style", (value) => (value === "true" || value === "false" ? { pathStyle: value === "true" } : undefined)],
  ["sse", (sse) => (sse === "AES256" || sse === "aws:kms" ? { sse } : undefined)],
  ["kms_key_id", (kmsKeyId) => ({ kmsKeyId })],
  ["profile", (profile) => ({ profile })],
]);

/** `backups/lab/<name>`, or `s3://bucket/prefix/<name>?region=…&endpoint=…`. Pure. */
export function parseSnapshotAddress(id: string): SnapshotAddress {
  const [address = "", query = ""] = id.startsWith("s3://") ? id.split("?", 2) : [id];
  const cut = address.lastIndexOf("/");
  const [folder, backup] = [address.slice(0, cut), address.slice(cut + 1)];
  const cluster = /^(.+)-\d{8}T\d{6}Z-[0-9a-f]{4}$/.exec(backup)?.[1];
  if (cut < 1 || cluster === undefined) throw malformed(id);
  if (!id.startsWith("s3://")) return { place: { directory: folder }, backup, cluster };
  const [, bucket, prefix] = /^s3:\/\/([^/]+)(?:\/(.+))?$/.exec(folder) ?? [];
  if (bucket === undefined) throw malformed(id);
  let s3: S3 = { bucket, ...given({ prefix }) };
  for (const [name, value] of new URLSearchParams(query)) {
    const setting = settings.get(name)?.(value);
    if (setting === undefined) throw malformed(id);
    s3 = { ...s3, ...setting };
  }
  return { place: { s3 }, backup, cluster };
}

function malformed(id: string): DiagnosticError {
  return new DiagnosticError({
    summary: "Not the address of a backup",
    detail: `Found ${JSON.stringify(id)}; expected a folder or bucket and the backup's name, such as backups/lab/lab-20261116T120000Z-3f9a or s3://bucket/prefix/lab-20261116T120000Z-3f9a?region=eu-central-1. Names are listed by: talosmith backup list`,
  });
}
