// SPDX-License-Identifier: Apache-2.0
import { crc32, deflateRawSync } from "node:zlib";

export interface ZipFile {
  readonly name: string;
  readonly content: Buffer;
  readonly executable: boolean;
}

/** 1980-01-01, the first date that the format knows: an archive says nothing about when it was made. */
const date = 0x21;

/** A zip archive. The same files give the same bytes. */
export function createZip(files: readonly ZipFile[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, content, executable } of files) {
    const data = deflateRawSync(content, { level: 9 });
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(8, 4);
    fields.writeUInt16LE(date, 8);
    fields.writeUInt32LE(crc32(content), 10);
    fields.writeUInt32LE(data.length, 14);
    fields.writeUInt32LE(content.length, 18);
    fields.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = [Buffer.from("PK\x03\x04", "latin1"), fields, Buffer.from(name), data];
    parts.push(...local);
    const end = Buffer.alloc(14);
    end.writeUInt32LE(((executable ? 0o100755 : 0o100644) << 16) >>> 0, 6);
    end.writeUInt32LE(offset, 10);
    // Made by unix, so that the mode counts.
    directory.push(Buffer.from("PK\x01\x02\x14\x03", "latin1"), fields, end, Buffer.from(name));
    offset += local.reduce((sum, part) => sum + part.length, 0);
  }
  const size = directory.reduce((sum, part) => sum + part.length, 0);
  const tail = Buffer.alloc(22);
  tail.write("PK\x05\x06", "latin1");
  tail.writeUInt16LE(files.length, 8);
  tail.writeUInt16LE(files.length, 10);
  tail.writeUInt32LE(size, 12);
  tail.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, ...directory, tail]);
}
