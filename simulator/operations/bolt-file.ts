// SPDX-License-Identifier: Apache-2.0
import { CallError } from "../machine/call-error.ts";

/**
 * The file format of bbolt, etcd's database: fixed-size pages, two of them with the head, one with free pages, the rest
 * a tree. This writes the smallest tree: a root leaf that names the buckets and one leaf (as many pages as needed) per
 * bucket. It reads back trees of that shape.
 */
export type Bucket = readonly (readonly [key: Buffer, value: Buffer])[];

const pageSize = 4_096;
const magic = 0xed0cdaed;
const version = 2;
const pageHead = 16;
const elementHead = 16;
const flag = { leaf: 0x02, meta: 0x04, freelist: 0x10 } as const;
const bucketElement = 1;

/** Entries of each bucket must be in the order of their keys. */
export function encodeBolt(buckets: Readonly<Record<string, Bucket>>): Buffer {
  const names = Object.keys(buckets).sort();
  let next = 4;
  const leaves: Buffer[] = [];
  const roots = names.map((name): readonly [Buffer, Buffer] => {
    const leaf = leafPage(next, buckets[name] ?? [], 0);
    const head = Buffer.alloc(16);
    head.writeBigUInt64LE(BigInt(next), 0);
    next += leaf.length / pageSize;
    leaves.push(leaf);
    return [Buffer.from(name), head];
  });
  const root = leafPage(3, roots, bucketElement);
  if (root.length !== pageSize) throw new Error("too many buckets for one page");
  const freelist = page(2, flag.freelist, 0, Buffer.alloc(0));
  return Buffer.concat([metaPage(0, 2, next), metaPage(1, 1, next), freelist, root, ...leaves]);
}

/** One bucket's entries. Throws when the file is no database or has another shape. */
export function decodeBolt(file: Buffer, bucket: string): Bucket {
  if (file.length < 4 * pageSize || file.readUInt32LE(pageHead) !== magic) {
    throw new CallError("Unknown", "invalid database");
  }
  const rootPage = Number(file.readBigUInt64LE(pageHead + 16));
  const entry = leafEntries(file, rootPage).find(([key]) => key.toString() === bucket);
  if (entry === undefined) throw new CallError("Unknown", `the snapshot has no bucket "${bucket}"`);
  return leafEntries(file, Number(entry[1].readBigUInt64LE(0)));
}

function page(id: number, flags: number, count: number, body: Buffer): Buffer {
  const pages = Math.max(1, Math.ceil((pageHead + body.length) / pageSize));
  const bytes = Buffer.alloc(pages * pageSize);
  bytes.writeBigUInt64LE(BigInt(id), 0);
  bytes.writeUInt16LE(flags, 8);
  bytes.writeUInt16LE(count, 10);
  bytes.writeUInt32LE(pages - 1, 12);
  body.copy(bytes, pageHead);
  return bytes;
}

function leafPage(id: number, entries: Bucket, elementFlags: number): Buffer {
  const heads = Buffer.alloc(entries.length * elementHead);
  let offset = heads.length;
  entries.forEach(([key, value], index) => {
    const at = index * elementHead;
    heads.writeUInt32LE(elementFlags, at);
    // The key's place counts from its own head.
    heads.writeUInt32LE(offset - at, at + 4);
    heads.writeUInt32LE(key.length, at + 8);
    heads.writeUInt32LE(value.length, at + 12);
    offset += key.length + value.length;
  });
  return page(id, flag.leaf, entries.length, Buffer.concat([heads, ...entries.flat()]));
}

function leafEntries(file: Buffer, id: number): Bucket {
  const start = id * pageSize;
  if (start + pageHead > file.length || file.readUInt16LE(start + 8) !== flag.leaf) {
    throw new CallError("Unknown", "the snapshot's database has another layout than the simulator's");
  }
  const count = file.readUInt16LE(start + 10);
  return Array.from({ length: count }, (_, index): readonly [Buffer, Buffer] => {
    const at = start + pageHead + index * elementHead;
    const key = at + file.readUInt32LE(at + 4);
    const value = key + file.readUInt32LE(at + 8);
    return [file.subarray(key, value), file.subarray(value, value + file.readUInt32LE(at + 12))];
  });
}

function metaPage(id: number, transaction: number, pages: number): Buffer {
  const body = Buffer.alloc(64);
  body.writeUInt32LE(magic, 0);
  body.writeUInt32LE(version, 4);
  body.writeUInt32LE(pageSize, 8);
  body.writeBigUInt64LE(3n, 16);
  body.writeBigUInt64LE(2n, 32);
  body.writeBigUInt64LE(BigInt(pages), 40);
  body.writeBigUInt64LE(BigInt(transaction), 48);
  body.writeBigUInt64LE(fnv1a(body.subarray(0, 56)), 56);
  return page(id, flag.meta, 0, body);
}

function fnv1a(bytes: Buffer): bigint {
  return bytes.reduce((hash, byte) => BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n), 0xcbf29ce484222325n);
}
