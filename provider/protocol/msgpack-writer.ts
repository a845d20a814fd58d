// SPDX-License-Identifier: Apache-2.0

/** Writes the kinds of MessagePack that Terraform's values use. */
export class MsgpackWriter {
  #buffer = Buffer.allocUnsafe(1024);
  #length = 0;

  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  nil(): void {
    this.#byte(0xc0);
  }

  bool(value: boolean): void {
    this.#byte(value ? 0xc3 : 0xc2);
  }

  /** Any integer of 64 bits, signed or not. */
  integer(value: bigint): void {
    if (value >= 0n && value < 0x80n) this.#byte(Number(value));
    else if (value < 0n && value >= -0x20n) this.#byte(0x100 + Number(value));
    else {
      this.#byte(value < 0n ? 0xd3 : 0xcf);
      this.#reserve(8);
      this.#length = this.#buffer.writeBigUInt64BE(BigInt.asUintN(64, value), this.#length);
    }
  }

  string(value: string): void {
    const size = Buffer.byteLength(value);
    if (size < 32) this.#byte(0xa0 | size);
    else this.#sized(size, 0xd9, 0xda, 0xdb);
    this.#reserve(size);
    this.#length += this.#buffer.write(value, this.#length, "utf8");
  }

  binary(value: Uint8Array): void {
    this.#sized(value.length, 0xc4, 0xc5, 0xc6);
    this.#append(value);
  }

  array(size: number): void {
    if (size < 16) this.#byte(0x90 | size);
    else this.#sized(size, undefined, 0xdc, 0xdd);
  }

  map(size: number): void {
    if (size < 16) this.#byte(0x80 | size);
    else this.#sized(size, undefined, 0xde, 0xdf);
  }

  extension(kind: number, value: Uint8Array): void {
    const fixed = [1, 2, 4, 8, 16].indexOf(value.length);
    if (fixed >= 0) this.#byte(0xd4 + fixed);
    else this.#sized(value.length, 0xc7, 0xc8, 0xc9);
    this.#byte(kind);
    this.#append(value);
  }

  #sized(size: number, one: number | undefined, two: number, four: number): void {
    if (one !== undefined && size < 0x100) {
      this.#byte(one);
      this.#byte(size);
    } else if (size < 0x10000) {
      this.#byte(two);
      this.#reserve(2);
      this.#length = this.#buffer.writeUInt16BE(size, this.#length);
    } else {
      this.#byte(four);
      this.#reserve(4);
      this.#length = this.#buffer.writeUInt32BE(size, this.#length);
    }
  }

  #byte(value: number): void {
    this.#reserve(1);
    this.#buffer[this.#length] = value;
    this.#length += 1;
  }

  #append(value: Uint8Array): void {
    this.#reserve(value.length);
    this.#buffer.set(value, this.#length);
    this.#length += value.length;
  }

  #reserve(size: number): void {
    const needed = this.#length + size;
    if (needed <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#buffer.length * 2));
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }
}
