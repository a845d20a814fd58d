// SPDX-License-Identifier: Apache-2.0

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

export function fnv1a(bytes: Buffer): bigint {
  return bytes.reduce((hash, byte) => BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n), 0xcbf29ce484222325n);
}
