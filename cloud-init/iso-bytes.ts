// SPDX-License-Identifier: Apache-2.0

export const sectorSize = 2048;

/** ISO 9660 writes most numbers twice: low byte first, then high byte first. */
export function bothEndian16(value: number): Uint8Array {
  return Uint8Array.of(value & 255, value >> 8, value >> 8, value & 255);
}

export function bothEndian32(value: number): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(8));
  bytes.setUint32(0, value, true);
  bytes.setUint32(4, value, false);
  return new Uint8Array(bytes.buffer);
}

/** The bytes of an image, addressed by sector. */
export class IsoBytes {
  readonly bytes: Uint8Array;

  constructor(sectors: number) {
    this.bytes = new Uint8Array(sectors * sectorSize);
  }

  write(sector: number, offset: number, content: Iterable<number> & ArrayLike<number>): void {
    this.bytes.set(content, sector * sectorSize + offset);
  }

  writeUint32(sector: number, offset: number, value: number, order: "little" | "big"): void {
    new DataView(this.bytes.buffer).setUint32(sector * sectorSize + offset, value, order === "little");
  }
}
