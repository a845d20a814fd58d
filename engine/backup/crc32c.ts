// SPDX-License-Identifier: Apache-2.0

const table = new Int32Array(256).map((_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0x82f63b78 : value >>> 1;
  return value;
});

/** CRC-32C (Castagnoli) of bytes that come in pieces; Node's zlib has only the other polynomial. */
export class Crc32c {
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
