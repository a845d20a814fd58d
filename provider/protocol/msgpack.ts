// SPDX-License-Identifier: Apache-2.0

/** One MessagePack item as it stands in the bytes. Arrays and maps give their size; their items follow. */
export type MsgpackToken =
  | { readonly kind: "nil" }
  | { readonly kind: "bool"; readonly value: boolean }
  | { readonly kind: "integer"; readonly value: bigint }
  | { readonly kind: "float"; readonly value: number }
  | { readonly kind: "string"; readonly value: string }
  | { readonly kind: "binary"; readonly value: Uint8Array }
  | { readonly kind: "array" | "map"; readonly size: number }
  | { readonly kind: "extension"; readonly code: number; readonly value: Uint8Array };

/** Reads item by item, and throws rather than read past the end. */
export class MsgpackReader {
  readonly #buffer: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get done(): boolean {
    return this.#at === this.#buffer.length;
  }

  next(): MsgpackToken {
    const code = this.#unsigned(1);
    if (code < 0x80) return { kind: "integer", value: BigInt(code) };
    if (code < 0x90) return this.#collection("map", code & 0x0f);
    if (code < 0xa0) return this.#collection("array", code & 0x0f);
    if (code < 0xc0) return this.#string(code & 0x1f);
    if (code >= 0xe0) return { kind: "integer", value: BigInt(code - 0x100) };
    switch (code) {
      case 0xc0:
        return { kind: "nil" };
      case 0xc2:
      case 0xc3:
        return { kind: "bool", value: code === 0xc3 };
      case 0xc4:
      case 0xc5:
      case 0xc6:
        return { kind: "binary", value: this.#take(this.#unsigned(1 << (code - 0xc4))) };
      case 0xc7:
      case 0xc8:
      case 0xc9:
        return this.#extension(this.#unsigned(1 << (code - 0xc7)));
      case 0xca:
        return { kind: "float", value: this.#take(4).readFloatBE() };
      case 0xcb:
        return { kind: "float", value: this.#take(8).readDoubleBE() };
      case 0xcc:
      case 0xcd:
      case 0xce:
        return { kind: "integer", value: BigInt(this.#unsigned(1 << (code - 0xcc))) };
      case 0xcf:
        return { kind: "integer", value: this.#take(8).readBigUInt64BE() };
      case 0xd0:
      case 0xd1:
      case 0xd2: {
        const size = 1 << (code - 0xd0);
        return { kind: "integer", value: BigInt(this.#take(size).readIntBE(0, size)) };
      }
      case 0xd3:
        return { kind: "integer", value: this.#take(8).readBigInt64BE() };
      case 0xd4:
      case 0xd5:
      case 0xd6:
      case 0xd7:
      case 0xd8:
        return this.#extension(1 << (code - 0xd4));
      case 0xd9:
      case 0xda:
      case 0xdb:
        return this.#string(this.#unsigned(1 << (code - 0xd9)));
      case 0xdc:
      case 0xdd:
        return this.#collection("array", this.#unsigned(2 << (code - 0xdc)));
      case 0xde:
      case 0xdf:
        return this.#collection("map", this.#unsigned(2 << (code - 0xde)));
      default:
        throw new RangeError(`MessagePack has no code 0x${code.toString(16)}`);
    }
  }

  /** Every item takes a byte at least, so a size beyond the end is a lie that must not cost memory. */
  #collection(kind: "array" | "map", size: number): MsgpackToken {
    if (size > this.#buffer.length - this.#at) throw new RangeError("MessagePack ends too early");
    return { kind, size };
  }

  #string(size: number): MsgpackToken {
    const start = this.#advance(size);
    return { kind: "string", value: this.#buffer.toString("utf8", start, start + size) };
  }

  #extension(size: number): MsgpackToken {
    const code = this.#buffer.readInt8(this.#advance(1));
    return { kind: "extension", code, value: this.#take(size) };
  }

  #unsigned(size: number): number {
    const start = this.#advance(size);
    return size === 1 ? this.#buffer.readUInt8(start) : this.#buffer.readUIntBE(start, size);
  }

  #take(size: number): Buffer {
    const start = this.#advance(size);
    return this.#buffer.subarray(start, start + size);
  }

  /** Goes on by so many bytes; returns where they begin. */
  #advance(size: number): number {
    const start = this.#at;
    if (start + size > this.#buffer.length) throw new RangeError("MessagePack ends too early");
    this.#at = start + size;
    return start;
  }
}

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
