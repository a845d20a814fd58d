// SPDX-License-Identifier: Apache-2.0
import { readSync } from "node:fs";
import { CallError } from "../machine/call-error.ts";

/** The file format of bbolt, etcd's database: fixed-size pages, two of them heads, one with free pages, the rest trees. */
export const bolt = {
  pageSize: 4_096,
  magic: 0xed0cdaed,
  version: 2,
  pageHead: 16,
  elementHead: 16,
  flag: { branch: 0x01, leaf: 0x02, meta: 0x04, freelist: 0x10 },
  bucketElement: 1,
} as const;

/** Entries of one bucket, in the order of their keys. */
export type Bucket = readonly (readonly [key: Buffer, value: Buffer])[];

const { pageSize, pageHead, elementHead, flag } = bolt;
/** A page counts its entries in 16 bits; small leaves also keep the pages of large values few. */
const entriesPerPage = 512;

interface Node {
  readonly id: number;
  readonly firstKey: Buffer;
}

/** Writes a database anew, with nothing free in it. */
export function encodeBolt(buckets: Readonly<Record<string, Bucket>>): Buffer {
  const pages: Buffer[] = [];
  let next = 4;
  const add = (make: (id: number) => Buffer): number => {
    const id = next;
    const bytes = make(id);
    next += bytes.length / pageSize;
    pages.push(bytes);
    return id;
  };
  const roots = Object.keys(buckets)
    .sort()
    .map((name): readonly [Buffer, Buffer] => {
      let level = groups(buckets[name] ?? []).map(
        (entries): Node => ({
          id: add((id) => leafPage(id, entries, 0)),
          firstKey: entries[0]?.[0] ?? Buffer.alloc(0),
        }),
      );
      while (level.length > 1) {
        level = groups(level).map((children) => ({
          id: add((id) => branchPage(id, children)),
          firstKey: children[0]?.firstKey ?? Buffer.alloc(0),
        }));
      }
      const head = Buffer.alloc(16);
      head.writeBigUInt64LE(BigInt(level[0]?.id ?? 0), 0);
      return [Buffer.from(name), head];
    });
  const root = leafPage(3, roots, bolt.bucketElement);
  if (root.length !== pageSize) throw new Error("too many buckets for one page");
  const freelist = page(2, flag.freelist, 0, Buffer.alloc(0));
  return Buffer.concat([metaPage(0, 2, next), metaPage(1, 1, next), freelist, root, ...pages]);
}

/** At least one group, which may be empty. */
function groups<T>(all: readonly T[]): T[][] {
  return Array.from({ length: Math.max(1, Math.ceil(all.length / entriesPerPage)) }, (_, index) =>
    all.slice(index * entriesPerPage, (index + 1) * entriesPerPage),
  );
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

function branchPage(id: number, children: readonly Node[]): Buffer {
  const heads = Buffer.alloc(children.length * elementHead);
  let offset = heads.length;
  children.forEach((child, index) => {
    const at = index * elementHead;
    heads.writeUInt32LE(offset - at, at);
    heads.writeUInt32LE(child.firstKey.length, at + 4);
    heads.writeBigUInt64LE(BigInt(child.id), at + 8);
    offset += child.firstKey.length;
  });
  return page(id, flag.branch, children.length, Buffer.concat([heads, ...children.map(({ firstKey }) => firstKey)]));
}

function metaPage(id: number, transaction: number, pages: number): Buffer {
  const body = Buffer.alloc(64);
  body.writeUInt32LE(bolt.magic, 0);
  body.writeUInt32LE(bolt.version, 4);
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

export interface BoltEntry {
  readonly bucket: string;
  readonly key: Buffer;
  readonly value: Buffer;
}

interface Head {
  readonly pageSize: number;
  readonly root: number;
  readonly pages: number;
  readonly transaction: bigint;
}

interface Leaf {
  readonly key: Buffer;
  readonly value: Buffer;
  readonly isBucket: boolean;
}

/** bbolt takes the page size of the computer that it runs on. */
const pageSizes = [4_096, 8_192, 16_384, 32_768, 65_536];
/** Deeper than any tree of etcd: the pages point in a circle. */
const deepest = 32;

/**
 * Every entry of every bucket of an open database, page after page, as bbolt would find them. Throws when the file is
 * no database or is damaged. Reads as it goes: the file may be larger than the memory.
 */
export function* readBolt(file: number): Iterable<BoltEntry> {
  try {
    const head = headOf(file);
    for (const { key, value, isBucket } of walk(file, head, head.root)) {
      if (!isBucket) throw invalid("its root holds no bucket");
      const root = Number(value.readBigUInt64LE(0));
      // A small bucket has no page of its own: its leaf follows in its parent's entry.
      const entries = root === 0 ? elements(value.subarray(16)) : walk(file, head, root);
      for (const entry of entries) yield { bucket: key.toString(), key: entry.key, value: entry.value };
    }
  } catch (error) {
    // A length or a place that points beyond its page.
    if (error instanceof RangeError) throw invalid("an entry reaches beyond its page");
    throw error;
  }
}

function invalid(reason: string): CallError {
  return new CallError("Unknown", `invalid database: ${reason}`);
}

function headOf(file: number): Head {
  const first = headAt(file, 0);
  const heads = [first, ...(first === undefined ? pageSizes : [first.pageSize]).map((at) => headAt(file, at))];
  const [newest] = heads.filter((head) => head !== undefined).sort((a, b) => (a.transaction > b.transaction ? -1 : 1));
  if (newest === undefined) throw invalid("it does not begin like one");
  return newest;
}

function headAt(file: number, at: number): Head | undefined {
  const body = Buffer.alloc(64);
  if (readSync(file, body, 0, 64, at + pageHead) < 64) return undefined;
  if (body.readUInt32LE(0) !== bolt.magic || body.readUInt32LE(4) !== bolt.version) return undefined;
  if (body.readBigUInt64LE(56) !== fnv1a(body.subarray(0, 56))) return undefined;
  return {
    pageSize: body.readUInt32LE(8),
    root: Number(body.readBigUInt64LE(16)),
    pages: Number(body.readBigUInt64LE(40)),
    transaction: body.readBigUInt64LE(48),
  };
}

function* walk(file: number, head: Head, id: number, depth = 0): Iterable<Leaf> {
  if (depth > deepest) throw invalid("its pages point in a circle");
  const page = readPage(file, head, id);
  const kind = page.readUInt16LE(8);
  if (kind === flag.leaf) {
    yield* elements(page);
    return;
  }
  if (kind !== flag.branch) throw invalid(`page ${id} is neither a branch nor a leaf`);
  const count = page.readUInt16LE(10);
  for (let index = 0; index < count; index++) {
    yield* walk(file, head, Number(page.readBigUInt64LE(pageHead + index * elementHead + 8)), depth + 1);
  }
}

function* elements(leaf: Buffer): Iterable<Leaf> {
  const count = leaf.readUInt16LE(10);
  for (let index = 0; index < count; index++) {
    const at = pageHead + index * elementHead;
    const key = at + leaf.readUInt32LE(at + 4);
    const value = key + leaf.readUInt32LE(at + 8);
    const end = value + leaf.readUInt32LE(at + 12);
    if (end > leaf.length) throw invalid("an entry reaches beyond its page");
    const isBucket = (leaf.readUInt32LE(at) & bolt.bucketElement) !== 0;
    yield { key: leaf.subarray(key, value), value: leaf.subarray(value, end), isBucket };
  }
}

/** A page with those that continue it. */
function readPage(file: number, { pageSize, pages }: Head, id: number): Buffer {
  if (id < 2 || id >= pages) throw invalid(`it points to page ${id} of ${pages}`);
  const first = readAt(file, id * pageSize, pageSize);
  const more = first.readUInt32LE(12);
  if (Number(first.readBigUInt64LE(0)) !== id || id + more >= pages) throw invalid(`page ${id} is damaged`);
  return more === 0 ? first : readAt(file, id * pageSize, (more + 1) * pageSize);
}

function readAt(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  if (readSync(file, bytes, 0, length, position) < length) throw invalid("it ends too early");
  return bytes;
}
