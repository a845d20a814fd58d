// SPDX-License-Identifier: Apache-2.0
import { bucketSettings, type Setting, type StateOfSettings } from "../../model/settings/index.ts";
import { DiagnosticError } from "../framework/index.ts";
import { unsetOf } from "./setting-attributes.ts";

type Bucket = StateOfSettings<typeof bucketSettings>;

/** Where a backup lies, as the attributes say it, and what it is called. */
export interface SnapshotAddress {
  readonly directory: string | null;
  readonly s3: Bucket | null;
  readonly backup: string;
  readonly cluster: string;
}

/** What may follow the URL of a backup in S3: the attributes of its bucket that the URL itself does not have. */
const { bucket: _bucket, prefix: _prefix, ...others } = bucketSettings;
const parameters = new Map<string, Setting["type"]>(Object.values(others).map((row) => [row.attribute, row.type]));

/** `backups/lab/<name>`, or `s3://bucket/prefix/<name>?region=…&endpoint=…`. Pure. */
export function parseSnapshotAddress(id: string): SnapshotAddress {
  const [address = "", query = ""] = id.startsWith("s3://") ? id.split("?", 2) : [id];
  const cut = address.lastIndexOf("/");
  const [folder, backup] = [address.slice(0, cut), address.slice(cut + 1)];
  const cluster = /^(.+)-\d{8}T\d{6}Z-[0-9a-f]{4}$/.exec(backup)?.[1];
  if (cut < 1 || cluster === undefined) throw malformed(id);
  if (!id.startsWith("s3://")) return { directory: folder, s3: null, backup, cluster };
  const [, bucket, prefix = null] = /^s3:\/\/([^/]+)(?:\/(.+))?$/.exec(folder) ?? [];
  if (bucket === undefined) throw malformed(id);
  const given = [...new URLSearchParams(query)].map(([name, text]) => {
    const value = parameterValue(parameters.get(name), text);
    if (value === undefined) throw malformed(id);
    return [name, value] as const;
  });
  const s3 = { ...unsetOf(bucketSettings), bucket, prefix, ...Object.fromEntries(given) };
  return { directory: null, s3, backup, cluster };
}

/** The reverse: what a snapshot in that place is imported by. Pure. */
export function snapshotAddress({ directory, s3 }: Pick<SnapshotAddress, "directory" | "s3">, backup: string): string {
  if (s3 === null) return `${directory ?? "."}/${backup}`;
  const { bucket, prefix, ...more } = s3;
  const given = Object.entries(more).flatMap(([name, value]) =>
    parameters.has(name) && value !== null ? [[name, String(value)] as [string, string]] : [],
  );
  const query = new URLSearchParams(given).toString();
  return `s3://${[bucket, prefix, backup].filter((part) => part !== null && part !== "").join("/")}${query && `?${query}`}`;
}

/** Undefined: that value, or any, is not allowed. */
function parameterValue(type: Setting["type"] | undefined, text: string): string | boolean | undefined {
  if (type === undefined) return undefined;
  if (type.kind === "flag") return text === "true" ? true : text === "false" ? false : undefined;
  return "choices" in type && !type.choices?.includes(text) ? undefined : text;
}

function malformed(id: string): DiagnosticError {
  return new DiagnosticError({
    summary: "Not the address of a backup",
    detail: `Found ${JSON.stringify(id)}; expected a folder or bucket and the backup's name, such as backups/lab/lab-20261116T120000Z-3f9a or s3://bucket/prefix/lab-20261116T120000Z-3f9a?region=eu-central-1. Names are listed by: talosmith backup list <environment>`,
  });
}
