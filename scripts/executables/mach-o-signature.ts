// SPDX-License-Identifier: Apache-2.0
// The ad-hoc signature without which macOS on arm64 starts no program: hashes of the file's pages, and no certificate.
// The layout is Apple's: <Kernel/kern/cs_blobs.h> and <mach-o/loader.h>.
import { createHash } from "node:crypto";

const magic64 = 0xfeedfacf;
const segmentCommand = 0x19;
const signatureCommand = 0x1d;
const pageSize = 4096;
const hashSize = 32;
const directorySize = 88;
const blobsSize = 20;

interface Places {
  /** Of the command that names the signature; undefined where there is none. */
  readonly signature: number | undefined;
  /** Of the last segment, which holds the signature. */
  readonly linkEdit: number;
  readonly textSize: bigint;
  /** The end of the commands. */
  readonly end: number;
}

/** The executable with a signature of its present bytes, in place of the one that it may have. */
export function signAdHoc(executable: Buffer, identifier: string): Buffer {
  const unsigned = withPlaceForSignature(executable);
  const { signature: command = 0, linkEdit, textSize } = findPlaces(unsigned);
  const start = unsigned.readUInt32LE(command + 8);
  const signature = signatureOf(start, identifier);
  const signed = Buffer.concat([unsigned.subarray(0, start), Buffer.alloc(signature.length)]);
  signed.writeUInt32LE(signature.length, command + 12);
  const size = BigInt(signed.length) - signed.readBigUInt64LE(linkEdit + 40);
  signed.writeBigUInt64LE(size, linkEdit + 48);
  // In memory it has whole pages of 16 KiB, where it has to grow.
  if (size > signed.readBigUInt64LE(linkEdit + 32)) signed.writeBigUInt64LE((size + 0x3fffn) & ~0x3fffn, linkEdit + 32);
  signed.set(signature.write(signed.subarray(0, start), textSize), start);
  return signed;
}

/** With a command that names where the signature begins: at the end, on a boundary of 16 bytes. */
function withPlaceForSignature(executable: Buffer): Buffer {
  const { signature, end } = findPlaces(executable);
  if (signature !== undefined) return executable;
  if (executable.subarray(end, end + 16).some((byte) => byte !== 0))
    throw new Error("this executable has no room for the command of a signature");
  const padded = Buffer.concat([executable, Buffer.alloc((16 - (executable.length % 16)) % 16)]);
  for (const [index, value] of [signatureCommand, 16, padded.length, 0].entries())
    padded.writeUInt32LE(value, end + index * 4);
  padded.writeUInt32LE(padded.readUInt32LE(16) + 1, 16);
  padded.writeUInt32LE(padded.readUInt32LE(20) + 16, 20);
  return padded;
}

function findPlaces(executable: Buffer): Places {
  if (executable.readUInt32LE(0) !== magic64) throw new Error("this is not a 64-bit Mach-O executable");
  let [at, linkEdit, textSize] = [32, 0, 0n];
  let signature: number | undefined;
  for (let left = executable.readUInt32LE(16); left > 0; left -= 1) {
    const command = executable.readUInt32LE(at);
    const segment =
      command === segmentCommand ? executable.toString("latin1", at + 8, at + 24).replace(/\0.*/s, "") : "";
    if (command === signatureCommand) signature = at;
    if (segment === "__LINKEDIT") linkEdit = at;
    if (segment === "__TEXT") textSize = executable.readBigUInt64LE(at + 48);
    at += executable.readUInt32LE(at + 4);
  }
  if (linkEdit === 0) throw new Error("this executable has no segment __LINKEDIT");
  return { signature, linkEdit, textSize, end: at };
}

/** Its length is needed before its bytes: both are in what is hashed. */
function signatureOf(codeLength: number, identifier: string) {
  const name = Buffer.from(`${identifier}\0`);
  const pages = Math.ceil(codeLength / pageSize);
  const length = blobsSize + directorySize + name.length + pages * hashSize;
  const write = (code: Buffer, textSize: bigint): Buffer => {
    const blob = Buffer.alloc(length);
    // A list of one blob: the directory of hashes.
    for (const [index, value] of [0xfade0cc0, length, 1, 0, blobsSize].entries()) blob.writeUInt32BE(value, index * 4);
    const directory = blob.subarray(blobsSize);
    const hashes = directorySize + name.length;
    const fields = [0xfade0c02, length - blobsSize, 0x20400, 0x20002, hashes, directorySize, 0, pages, codeLength];
    for (const [index, value] of fields.entries()) directory.writeUInt32BE(value, index * 4);
    // Size and kind (SHA-256) of a hash, and the size of a page as a power of two.
    directory.set([hashSize, 2, 0, Math.log2(pageSize)], 36);
    directory.writeBigUInt64BE(textSize, 72);
    // The main executable.
    directory.writeBigUInt64BE(1n, 80);
    name.copy(directory, directorySize);
    for (let page = 0; page < pages; page += 1) {
      const bytes = code.subarray(page * pageSize, (page + 1) * pageSize);
      createHash("sha256")
        .update(bytes)
        .digest()
        .copy(directory, hashes + page * hashSize);
    }
    return blob;
  };
  return { length, write };
}
