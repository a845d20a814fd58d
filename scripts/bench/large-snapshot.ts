// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";

const pageSize = 4_096;
const perBranch = 120;
const flag = { branch: 0x01, leaf: 0x02, meta: 0x04, freelist: 0x10 } as const;

/** A valid etcd snapshot of about this size, made as it is read: one value a page, under three levels of branches. */
export async function* largeSnapshot(bytes: number): AsyncIterable<Buffer> {
  const leaves = Math.floor(bytes / pageSize);
  const levels: number[] = [];
  for (let count = leaves; count > 1; count = Math.ceil(count / perBranch)) levels.push(Math.ceil(count / perBranch));
  const pages = 4 + leaves + levels.reduce((sum, count) => sum + count, 0);
  const hash = createHash("sha256");
  for (const page of database(leaves, levels, pages)) {
    hash.update(page);
    for (let offset = 0; offset < pageSize; offset += 1_024) yield page.subarray(offset, offset + 1_024);
  }
  yield hash.digest();
}

function* database(leaves: number, levels: readonly number[], pages: number): Iterable<Buffer> {
  yield metaPage(0, pages);
  yield metaPage(1, pages);
  yield page(2, flag.freelist, 0);
  const bucket = Buffer.alloc(16);
  bucket.writeBigUInt64LE(BigInt(pages - 1));
  yield leaf(3, Buffer.from("key"), bucket, 1);
  const value = Buffer.alloc(4_000, 7);
  for (let index = 0; index < leaves; index++) yield leaf(4 + index, revisionKey(index), value, 0);
  let [start, count, keys] = [4, leaves, 1];
  for (const size of levels) {
    for (let index = 0; index < size; index++) {
      const children = Math.min(perBranch, count - index * perBranch);
      yield branch(start + count + index, start + index * perBranch, children, index * perBranch * keys, keys);
    }
    [start, count, keys] = [start + count, size, keys * perBranch];
  }
}

function page(id: number, flags: number, count: number): Buffer {
  const bytes = Buffer.alloc(pageSize);
  bytes.writeBigUInt64LE(BigInt(id), 0);
  bytes.writeUInt16LE(flags, 8);
  bytes.writeUInt16LE(count, 10);
  return bytes;
}

function leaf(id: number, key: Buffer, value: Buffer, flags: number): Buffer {
  const bytes = page(id, flag.leaf, 1);
  bytes.writeUInt32LE(flags, 16);
  bytes.writeUInt32LE(16, 20);
  bytes.writeUInt32LE(key.length, 24);
  bytes.writeUInt32LE(value.length, 28);
  key.copy(bytes, 32);
  value.copy(bytes, 32 + key.length);
  return bytes;
}

function branch(id: number, firstChild: number, children: number, firstKey: number, step: number): Buffer {
  const bytes = page(id, flag.branch, children);
  for (let index = 0; index < children; index++) {
    const at = 16 + index * 16;
    const key = 16 + children * 16 + index * 17;
    bytes.writeUInt32LE(key - at, at);
    bytes.writeUInt32LE(17, at + 4);
    bytes.writeBigUInt64LE(BigInt(firstChild + index), at + 8);
    revisionKey(firstKey + index * step).copy(bytes, key);
  }
  return bytes;
}

function revisionKey(index: number): Buffer {
  const bytes = Buffer.alloc(17, "_");
  bytes.writeBigInt64BE(BigInt(index + 2), 0);
  bytes.writeBigInt64BE(0n, 9);
  return bytes;
}

function metaPage(id: number, pages: number): Buffer {
  const bytes = page(id, flag.meta, 0);
  const body = bytes.subarray(16, 80);
  body.writeUInt32LE(0xed0cdaed, 0);
  body.writeUInt32LE(2, 4);
  body.writeUInt32LE(pageSize, 8);
  body.writeBigUInt64LE(3n, 16);
  body.writeBigUInt64LE(2n, 32);
  body.writeBigUInt64LE(BigInt(pages), 40);
  body.writeBigUInt64LE(BigInt(2 - id), 48);
  let hash = 0xcbf29ce484222325n;
  for (const byte of body.subarray(0, 56)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  body.writeBigUInt64LE(hash, 56);
  return bytes;
}
