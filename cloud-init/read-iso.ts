// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../talos/errors.ts";
import { sectorSize } from "./iso-bytes.ts";

/** The files in the root of an image with Joliet names, whoever made it. Throws on anything else. */
export function readIso(image: Uint8Array, name: string): ReadonlyMap<string, string> {
  const bytes = Buffer.from(image.buffer, image.byteOffset, image.byteLength);
  try {
    const descriptor = jolietDescriptor(bytes);
    const [start, size] = [bytes.readUInt32LE(descriptor + 158), bytes.readUInt32LE(descriptor + 166)];
    const files = new Map<string, string>();
    // Files do not overlap: a directory whose entries all name the same sectors would make gigabytes of a small image.
    let left = bytes.length;
    let at = start * sectorSize;
    const end = at + size;
    while (at < end) {
      const length = bytes.readUInt8(at);
      if (length === 0) {
        // Records do not cross sectors; what is left of one is empty.
        at = (Math.floor(at / sectorSize) + 1) * sectorSize;
        continue;
      }
      const isFolder = (bytes.readUInt8(at + 25) & 2) !== 0;
      if (!isFolder) {
        left -= bytes.readUInt32LE(at + 10);
        if (left < 0) throw new RangeError("the files are larger than the image");
        files.set(nameAt(bytes, at), contentAt(bytes, at));
      }
      at += length;
    }
    return files;
  } catch (cause) {
    throw new TalosError("invalid-input", `${name}: not an ISO image with Joliet names`, { cause });
  }
}

/** Volume descriptors begin at sector 16; the second kind holds the names as people write them. */
function jolietDescriptor(bytes: Buffer): number {
  for (let at = 16 * sectorSize; bytes.toString("latin1", at + 1, at + 6) === "CD001"; at += sectorSize)
    if (bytes.readUInt8(at) === 2) return at;
  throw new RangeError("no supplementary volume descriptor");
}

function nameAt(bytes: Buffer, record: number): string {
  const length = bytes.readUInt8(record + 32);
  const name = Buffer.from(bytes.subarray(record + 33, record + 33 + length)).swap16();
  return name.toString("utf16le").replace(/;1$/, "");
}

function contentAt(bytes: Buffer, record: number): string {
  const start = bytes.readUInt32LE(record + 2) * sectorSize;
  const end = start + bytes.readUInt32LE(record + 10);
  if (end > bytes.length) throw new RangeError("a file ends after the image");
  return bytes.toString("utf8", start, end);
}
