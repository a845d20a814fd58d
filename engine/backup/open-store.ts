// SPDX-License-Identifier: Apache-2.0
import { isAbsolute, join } from "node:path";
import { TalosError } from "../../talos/errors.ts";
import { directoryStore } from "./directory-store.ts";
import type { S3Place } from "./s3-client.ts";
import type { BackupStore } from "./store.ts";

/** Where backups lie: one of the two. */
export interface Place {
  /** A folder; relative to the project's root. */
  readonly directory?: string;
  readonly s3?: S3Place;
}

/** The store at a place. The library for S3 is loaded only for such a place. */
export async function openStore({ directory, s3 }: Place, root: string): Promise<BackupStore> {
  if (s3 !== undefined) {
    const { s3Store } = await import("./s3-store.ts");
    return s3Store(s3);
  }
  if (directory === undefined) throw new TalosError("invalid-input", "backups have no place: neither directory nor s3");
  return directoryStore(isAbsolute(directory) ? directory : join(root, directory), directory);
}

/** `s3://bucket/key` taken apart; undefined for what is no such URL. */
export function parseS3Url(url: string): { readonly bucket: string; readonly key: string } | undefined {
  const match = /^s3:\/\/([^/]+)\/(.+)$/.exec(url);
  return match?.[1] === undefined || match[2] === undefined ? undefined : { bucket: match[1], key: match[2] };
}
