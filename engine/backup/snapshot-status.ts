// SPDX-License-Identifier: Apache-2.0

import { type FileHandle, open } from "node:fs/promises";
import { TalosError } from "../../talos/errors.ts";
import { checkSnapshot } from "../index.ts";
import { SnapshotCheck } from "../snapshot-file.ts";
import { BoltFile } from "./bolt-file.ts";
import type { ScratchFile } from "./scratch-file.ts";

/** What `etcdutl snapshot status` tells of a snapshot. */
interface DatabaseStatus {
  /** CRC-32C of all buckets' names, keys and values, eight hexadecimal digits. */
  readonly hash: string;
  /** Of the last change in it. */
  readonly revision: number;
  /** In all buckets, old revisions and tombstones included. */
  readonly entries: number;
}

export interface SnapshotStatus extends DatabaseStatus {
  /** Size of the file. */
  readonly bytes: number;
  /** Of the database as etcd wrote it, which is the file without its last 32 bytes. */
  readonly sha256: string;
}

/** Reads the database in an open file from end to end, page by page. Throws when it is damaged. */
async function databaseStatus(file: FileHandle, what: string): Promise<DatabaseStatus> {
  const crc = new Crc32c();
  let revision = 0;
  let entries = 0;
  const database = await BoltFile.open(file, what);
  for await (const { name, pages } of database.buckets()) {
    crc.update(name);
    const holdsRevisions = name.toString() === "key";
    for await (const page of pages) {
      for (const [key, value] of page) {
        crc.update(key);
        crc.update(value);
        entries += 1;
        if (holdsRevisions && key.length >= 8) revision = Number(key.readBigInt64BE(0));
      }
    }
  }
  return { hash: crc.digest().toString(16).padStart(8, "0"), revision, entries };
}

/** Receives a snapshot into a file from end to end. Throws when it is not whole. */
export async function receiveSnapshot(
  file: ScratchFile,
  chunks: AsyncIterable<Uint8Array>,
  what: string,
): Promise<SnapshotStatus> {
  const check = new SnapshotCheck();
  await file.receive(chunks, (chunk) => check.add(chunk));
  return { ...check.finish(what), ...(await databaseStatus(file.handle, what)) };
}

/** Everything that can be known of a snapshot file: that it is whole, and what is in it. Throws when it is not whole. */
export async function snapshotStatus(path: string): Promise<SnapshotStatus> {
  const summary = await checkSnapshot(path);
  const file = await openSnapshot(path);
  try {
    return { ...summary, ...(await databaseStatus(file, path)) };
  } finally {
    await file.close();
  }
}

async function openSnapshot(path: string): Promise<FileHandle> {
  try {
    return await open(path, "r");
  } catch (cause) {
    throw new TalosError("not-found", `the snapshot ${path} cannot be read`, { cause });
  }
}

const table = new Int32Array(256).map((_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0x82f63b78 : value >>> 1;
  return value;
});

/** CRC-32C (Castagnoli) of bytes that come in pieces; Node's zlib has only the other polynomial. */
class Crc32c {
  #value = -1;

  update(bytes: Uint8Array): void {
    let value = this.#value;
    for (let index = 0; index < bytes.length; index++) {
      value = (value >>> 8) ^ (table[(value ^ (bytes[index] ?? 0)) & 0xff] ?? 0);
    }
    this.#value = value;
  }

  /** Unsigned. */
  digest(): number {
    return (this.#value ^ -1) >>> 0;
  }
}
