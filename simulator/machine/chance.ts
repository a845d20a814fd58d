// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import type { Entropy } from "../../talos/clock.ts";

/** Random bytes from a seed: the same seed gives the same history. */
export function seededEntropy(seed: string): Entropy {
  let counter = 0;
  let pool = Buffer.alloc(0);
  return (count) => {
    while (pool.length < count) {
      const block = createHash("sha256").update(`${seed}/${counter}`).digest();
      counter += 1;
      pool = Buffer.concat([pool, block]);
    }
    const bytes = pool.subarray(0, count);
    pool = pool.subarray(count);
    return bytes;
  };
}

/** A version 4 UUID. */
export function randomUuid(entropy: Entropy): string {
  return formatUuid(entropy(16));
}

/** A UUID that always is the same for the same text. */
export function uuidOf(text: string): string {
  return formatUuid(createHash("sha256").update(text).digest().subarray(0, 16));
}

function formatUuid(random: Uint8Array): string {
  const bytes = Buffer.from(random);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

/** `count` random bytes as hex digits. */
export function randomHex(entropy: Entropy, count: number): string {
  return Buffer.from(entropy(count)).toString("hex");
}
