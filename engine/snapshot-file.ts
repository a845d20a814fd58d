// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { TalosError } from "../talos/errors.ts";

export interface SnapshotSummary {
  readonly bytes: number;
  /** Hexadecimal, of the database as etcd wrote it. */
  readonly sha256: string;
}

const hashLength = 32;
const pageSize = 512;

/** Reads a snapshot as it comes and knows at the end whether it is whole: the last 32 bytes are the hash of the rest. */
export class SnapshotCheck {
  readonly #hash = createHash("sha256");
  #tail: Buffer = Buffer.alloc(0);
  #bytes = 0;

  add(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    const joined = Buffer.concat([this.#tail, chunk]);
    const known = Math.max(0, joined.length - hashLength);
    this.#hash.update(joined.subarray(0, known));
    this.#tail = Buffer.from(joined.subarray(known));
  }

  /** Throws when bytes are missing or damaged. */
  finish(what: string): SnapshotSummary {
    const sha256 = this.#hash.digest();
    const whole = this.#bytes > hashLength && this.#bytes % pageSize === hashLength && sha256.equals(this.#tail);
    if (!whole) {
      throw new TalosError("failed-precondition", `${what} is not a whole etcd snapshot (${this.#bytes} bytes)`, {
        hint: "Take it again. A copy of etcd's data file without its hash is not enough.",
      });
    }
    return { bytes: this.#bytes, sha256: sha256.toString("hex") };
  }
}

/** Checks a file without loading it. */
export async function checkSnapshot(path: string): Promise<SnapshotSummary> {
  const check = new SnapshotCheck();
  for await (const chunk of readSnapshot(path)) check.add(chunk);
  return check.finish(path);
}

/** The file in chunks of the size that talosctl sends. */
export async function* readSnapshot(path: string): AsyncIterable<Uint8Array> {
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: 4096 })) yield chunk;
  } catch (error) {
    throw new TalosError("not-found", `the snapshot ${path} cannot be read`, { cause: error });
  }
}
