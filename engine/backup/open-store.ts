// SPDX-License-Identifier: Apache-2.0

import { createReadStream } from "node:fs";
import { link, mkdir, readdir, rm, stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { syncFolder, writeFileAtomically } from "../../talos/atomic-file.ts";
import { TalosError } from "../../talos/errors.ts";
import type { S3Place } from "./s3-store.ts";
import { type BackupStore, diskError, partPrefix, ScratchFile, type StoredFile } from "./scratch-file.ts";

/** Where backups lie: one of the two. */
export interface Place {
  /** A folder; relative to the project's root. */
  readonly directory?: string | undefined;
  readonly s3?: S3Place | undefined;
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

/** No run takes longer than this, so that an older part has no owner any more. */
const partsDieAfter = 24 * 3_600_000;

/** Backups in a folder of this computer, for its owner alone. `place` is how the folder is called in messages. */
export function directoryStore(folder: string, place = folder): BackupStore {
  const at = (name: string) => join(folder, name);
  const onDisk = async <T>(action: "open" | "write", work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw diskError(error, action, place);
    }
  };
  return {
    place,
    scratch: () =>
      onDisk("open", async () => {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        return ScratchFile.in(folder);
      }),
    add: (name, file) =>
      onDisk("write", async () => {
        if (file.path === undefined) throw new TalosError("internal", "the file to keep has no name");
        // A link rather than a rename: a name that is taken stays as it is.
        await link(file.path, at(name));
        await syncFolder(folder);
      }),
    addText: (name, text) =>
      onDisk("write", () => writeFileAtomically(at(name), text, { exclusive: true, links: "refuse" })),
    list: () =>
      onDisk("open", async () => {
        const files: StoredFile[] = [];
        for (const name of (await namesIn(folder)).sort()) {
          if (name.startsWith(".")) continue;
          const found = await ifThere(stat(at(name)));
          if (found !== undefined) files.push({ name, bytes: found.size });
        }
        return files;
      }),
    async *read(name) {
      try {
        for await (const piece of createReadStream(at(name), { highWaterMark: 1024 * 1024 })) yield piece as Buffer;
      } catch (error) {
        throw diskError(error, "open", `${place}/${name}`);
      }
    },
    remove: (name) => onDisk("write", () => rm(at(name), { force: true })),
    sweep: (now) =>
      onDisk("open", async () => {
        for (const name of await namesIn(folder)) {
          if (!name.startsWith(partPrefix)) continue;
          const found = await ifThere(stat(at(name)));
          if (found !== undefined && now.getTime() - found.mtimeMs > partsDieAfter) await rm(at(name), { force: true });
        }
      }),
  };
}

async function namesIn(folder: string): Promise<string[]> {
  return (await ifThere(readdir(folder))) ?? [];
}

/** Undefined when there is no such file, perhaps because another run has just removed it. */
async function ifThere<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
