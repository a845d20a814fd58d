// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import type { SnapshotSource } from "../../engine/backup/index.ts";

/** A snapshot that a real etcd 3.6.12 made: 1,200 keys with values up to 6 kB, 20 of them deleted, and a lease. */
export const realSnapshot = gunzipSync(readFileSync("test/golden/etcd/etcd-3.6.12.snapshot.gz"));

/** A source that sends these bytes as a machine does, a kilobyte at a time; `before` may fail or wait. */
export function sourceOf(bytes: Buffer, before: (offset: number) => void | Promise<void> = () => {}): SnapshotSource {
  return {
    take(use) {
      const chunks = async function* () {
        for (let offset = 0; offset < bytes.length; offset += 1_024) {
          await before(offset);
          yield bytes.subarray(offset, offset + 1_024);
        }
      };
      return use("127.0.0.1", chunks());
    },
  };
}

/** The same database with its hash made anew, after a change. */
export function rehashed(database: Buffer): Buffer {
  return Buffer.concat([database, createHash("sha256").update(database).digest()]);
}
