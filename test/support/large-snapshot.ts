// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";

const pageSize = 4096;
const valueSize = 1024 * 1024;
/** Pages of a leaf with one value of that size: header, element, key and value, and what is left of the last page. */
const leafPages = Math.ceil((16 + 16 + 17 + valueSize) / pageSize);
const firstLeaf = 4;

/**
 * A snapshot of an etcd with so many keys of a megabyte each, made as it is read: a database that etcd's own bbolt
 * could open (two metas, freelist, one bucket `key` with a branch above its leaves), and its hash.
 */
export async function* largeSnapshot(keys: number): AsyncGenerator<Buffer> {
  const hash = createHash("sha256");
  const branchPages = Math.ceil((16 + keys * (16 + 17)) / pageSize);
  const branch = firstLeaf + keys * leafPages;
  const last = branch + branchPages;
  const value = Buffer.alloc(valueSize, "etcd");
  const pages = function* () {
    yield meta(0, last);
    yield meta(1, last);
    yield page(2, 0x10, 0, 1);
    yield rootLeaf(branch);
    for (let key = 0; key < keys; key++) yield leaf(firstLeaf + key * leafPages, revision(key), value);
    yield branchOver(branch, branchPages, keys);
  };
  for (const bytes of pages()) {
    hash.update(bytes);
    yield bytes;
  }
  yield hash.digest();
}

function page(id: number, flags: number, count: number, pages: number): Buffer {
  const bytes = Buffer.alloc(pages * pageSize);
  bytes.writeBigUInt64LE(BigInt(id), 0);
  bytes.writeUInt16LE(flags, 8);
  bytes.writeUInt16LE(count, 10);
  bytes.writeUInt32LE(pages - 1, 12);
  return bytes;
}

function meta(id: number, last: number): Buffer {
  const bytes = page(id, 0x04, 0, 1);
  bytes.writeUInt32LE(0xed0cdaed, 16);
  bytes.writeUInt32LE(2, 20);
  bytes.writeUInt32LE(pageSize, 24);
  bytes.writeBigUInt64LE(3n, 32);
  bytes.writeBigUInt64LE(2n, 48);
  bytes.writeBigUInt64LE(BigInt(last), 56);
  bytes.writeBigUInt64LE(BigInt(id), 64);
  let sum = 0xcbf29ce484222325n;
  for (const byte of bytes.subarray(16, 72)) sum = BigInt.asUintN(64, (sum ^ BigInt(byte)) * 0x100000001b3n);
  bytes.writeBigUInt64LE(sum, 72);
  return bytes;
}

/** The bucket of buckets: one, whose root is the branch. */
function rootLeaf(branch: number): Buffer {
  const bytes = page(3, 0x02, 1, 1);
  const name = Buffer.from("key");
  bytes.writeUInt32LE(1, 16);
  bytes.writeUInt32LE(16, 20);
  bytes.writeUInt32LE(name.length, 24);
  bytes.writeUInt32LE(16, 28);
  name.copy(bytes, 32);
  bytes.writeBigUInt64LE(BigInt(branch), 32 + name.length);
  return bytes;
}

function leaf(id: number, key: Buffer, value: Buffer): Buffer {
  const bytes = page(id, 0x02, 1, leafPages);
  bytes.writeUInt32LE(16, 20);
  bytes.writeUInt32LE(key.length, 24);
  bytes.writeUInt32LE(value.length, 28);
  key.copy(bytes, 32);
  value.copy(bytes, 32 + key.length);
  return bytes;
}

function branchOver(id: number, pages: number, keys: number): Buffer {
  const bytes = page(id, 0x01, keys, pages);
  for (let key = 0; key < keys; key++) {
    const element = 16 + key * 16;
    const at = 16 + keys * 16 + key * 17;
    bytes.writeUInt32LE(at - element, element);
    bytes.writeUInt32LE(17, element + 4);
    bytes.writeBigUInt64LE(BigInt(firstLeaf + key * leafPages), element + 8);
    revision(key).copy(bytes, at);
  }
  return bytes;
}

/** How etcd names a change: main revision, underscore, sub-revision. */
function revision(key: number): Buffer {
  const bytes = Buffer.alloc(17);
  bytes.writeBigInt64BE(BigInt(key + 2), 0);
  bytes.write("_", 8);
  return bytes;
}
