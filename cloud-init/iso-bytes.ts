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

// System use entries of the Rock Ridge extension: real names and modes beside the ISO 9660 ones.

function entry(signature: string, body: readonly number[]): readonly number[] {
  return [...Buffer.from(signature, "latin1"), body.length + 4, 1, ...body];
}

const directoryMode = 0o040555;
const fileMode = 0o100444;

function posix(mode: number, links: number): readonly number[] {
  return entry(
    "PX",
    [mode, links, 0, 0].flatMap((value) => [...bothEndian32(value)]),
  );
}

/** Names the extension; readers look for it before they believe any other entry. */
export const rockRidgeReference: Uint8Array = Uint8Array.from(
  entry("ER", ((id) => [id.length, 0, 0, 1, ...id])([...Buffer.from("RRIP_1991A", "latin1")])),
);

/** Entries of the root's own record, which point at the reference, or of the record for its parent. */
export function rootEntries(parent: boolean, referenceSector: number, referenceLength: number): Uint8Array {
  const attributes = posix(directoryMode, 2);
  if (parent) return Uint8Array.from(attributes);
  const indicator = entry("SP", [0xbe, 0xef, 0]);
  const continuation = entry(
    "CE",
    [referenceSector, 0, referenceLength].flatMap((value) => [...bothEndian32(value)]),
  );
  return Uint8Array.from([...indicator, ...attributes, ...continuation]);
}

/** Entries of a file's record. */
export function fileEntries(name: string): Uint8Array {
  return Uint8Array.from([...posix(fileMode, 1), ...entry("NM", [0, ...Buffer.from(name, "latin1")])]);
}
