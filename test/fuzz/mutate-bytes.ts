// SPDX-License-Identifier: Apache-2.0
import type { Random } from "./random.ts";

const awkward = [
  0x00, 0x01, 0x7f, 0x80, 0x8f, 0x9f, 0xc0, 0xc1, 0xc6, 0xc7, 0xcf, 0xd3, 0xdb, 0xdd, 0xdf, 0xff,
] as const;

/** Bytes with some of them flipped, cut out, doubled, overwritten by great numbers, or ended early. */
export function mutateBytes(seed: Uint8Array, random: Random): Uint8Array {
  let bytes = Buffer.from(seed);
  for (let count = 1 + random.below(5); count > 0; count -= 1) {
    const at = random.below(bytes.length);
    switch (random.below(7)) {
      case 0:
        bytes = bytes.subarray(0, at);
        break;
      case 1: {
        const length = 1 + random.below(40);
        bytes = Buffer.concat([bytes.subarray(0, at + length), bytes.subarray(at)]);
        break;
      }
      case 2:
        bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + random.below(20))]);
        break;
      case 3:
        if (at + 4 <= bytes.length) bytes.writeUInt32LE(random.pick([0, 1, 0x7fff_ffff, 0xffff_ffff]), at);
        break;
      case 4:
        bytes[at] = random.pick(awkward);
        break;
      default:
        bytes[at] = random.below(256);
    }
    if (bytes.length === 0) bytes = Buffer.of(random.below(256));
  }
  return new Uint8Array(bytes);
}
