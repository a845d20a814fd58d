// SPDX-License-Identifier: Apache-2.0
import { readSync } from "node:fs";
import { CallError } from "../machine/call-error.ts";
import { bolt, fnv1a } from "./bolt-file.ts";

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

const { pageHead, elementHead, flag } = bolt;
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
