// SPDX-License-Identifier: Apache-2.0
import type { FileHandle } from "node:fs/promises";
import { TalosError } from "../../talos/errors.ts";

/** One entry of a bucket, in the bytes of its page: valid until the next page is asked for. */
export type Entry = readonly [key: Buffer, value: Buffer];

interface Head {
  readonly pageSize: number;
  readonly root: number;
  /** One more than the highest page in use. */
  readonly pages: number;
  readonly transaction: bigint;
}

const magic = 0xed0cdaed;
const version = 2;
const pageHead = 16;
const flag = { branch: 0x01, leaf: 0x02 } as const;
const bucketElement = 1;
/** A tree of etcd's largest database is four deep; more is a damaged file that points in a circle. */
const deepest = 32;
const pageSizes = [4_096, 8_192, 16_384, 32_768, 65_536, 1_024, 2_048];
/** Neighbouring pages are read together: most trees are written nearly in order. */
const readAhead = 256 * 1_024;

/**
 * Reads the file format of bbolt, etcd's database: pages of one size, two of them heads of which the valid one with the
 * higher transaction counts, the rest trees of branch and leaf pages. Holds one path of a tree in memory, never more.
 */
export class BoltFile {
  readonly #file: FileHandle;
  readonly #what: string;
  readonly #head: Head;
  /** Filled again and again; a page is valid until the next one is asked for. */
  readonly #buffer = Buffer.alloc(readAhead);
  #block: { readonly start: number; readonly bytes: Buffer } = { start: 0, bytes: Buffer.alloc(0) };

  private constructor(file: FileHandle, what: string, head: Head) {
    this.#file = file;
    this.#what = what;
    this.#head = head;
  }

  /** `what` names the file in errors. Throws when it is no database. */
  static async open(file: FileHandle, what: string): Promise<BoltFile> {
    const start = Buffer.alloc(2 * 65_536);
    const { bytesRead } = await file.read(start, 0, start.length, 0);
    const known = start.subarray(0, bytesRead);
    const first = headAt(known, 0);
    const candidates = first === undefined ? pageSizes : [first.pageSize];
    const heads = [first, ...candidates.map((size) => headAt(known, size))].filter((head) => head !== undefined);
    const [newest] = heads.sort((a, b) => (a.transaction < b.transaction ? 1 : -1));
    if (newest === undefined) throw damaged(what, "it does not begin like one");
    return new BoltFile(file, what, newest);
  }

  /** Bytes that the database takes, without what follows it in the file. */
  get size(): number {
    return this.#head.pages * this.#head.pageSize;
  }

  /** The buckets at the top, in the order of their names, each with its entries, page by page in the order of keys. */
  async *buckets(): AsyncIterable<{ readonly name: Buffer; readonly pages: AsyncIterable<Iterable<Entry>> }> {
    for await (const leaf of this.#leaves(this.#head.root, 0)) {
      for (const { key, value, flags } of this.#elements(Buffer.from(leaf))) {
        if ((flags & bucketElement) === 0 || value.length < 16) throw damaged(this.#what, "its root holds no bucket");
        yield { name: Buffer.from(key), pages: this.#pages(Buffer.from(value)) };
      }
    }
  }

  async *#pages(bucket: Buffer): AsyncIterable<Iterable<Entry>> {
    const root = Number(bucket.readBigUInt64LE(0));
    // A small bucket has no page of its own: its leaf follows in its parent's entry.
    if (root === 0) yield this.#entries(bucket.subarray(16));
    else for await (const leaf of this.#leaves(root, 0)) yield this.#entries(leaf);
  }

  async *#leaves(id: number, depth: number): AsyncIterable<Buffer> {
    if (depth > deepest) throw damaged(this.#what, "its pages point in a circle");
    const found = await this.#page(id);
    const kind = found.readUInt16LE(8);
    if (kind === flag.leaf) {
      yield found;
      return;
    }
    const page = Buffer.from(found);
    if (kind !== flag.branch) throw damaged(this.#what, `page ${id} is neither a branch nor a leaf`);
    const count = page.readUInt16LE(10);
    this.#within(page, pageHead + count * 16);
    for (let index = 0; index < count; index++) {
      yield* this.#leaves(Number(page.readBigUInt64LE(pageHead + index * 16 + 8)), depth + 1);
    }
  }

  *#entries(leaf: Buffer): Iterable<Entry> {
    for (const { key, value, flags } of this.#elements(leaf)) {
      yield [key, (flags & bucketElement) === 0 ? value : Buffer.alloc(0)];
    }
  }

  *#elements(leaf: Buffer): Iterable<Element> {
    this.#within(leaf, pageHead);
    const count = leaf.readUInt16LE(10);
    this.#within(leaf, pageHead + count * 16);
    for (let index = 0; index < count; index++) {
      const at = pageHead + index * 16;
      const key = at + leaf.readUInt32LE(at + 4);
      const value = key + leaf.readUInt32LE(at + 8);
      const end = value + leaf.readUInt32LE(at + 12);
      this.#within(leaf, end);
      yield { key: leaf.subarray(key, value), value: leaf.subarray(value, end), flags: leaf.readUInt32LE(at) };
    }
  }

  #within(page: Buffer, end: number): void {
    if (end > page.length) throw damaged(this.#what, "an entry reaches beyond its page");
  }

  /** A page with those that continue it. */
  async #page(id: number): Promise<Buffer> {
    const { pageSize, pages } = this.#head;
    if (id < 2 || id >= pages) throw damaged(this.#what, `it points to page ${id} of ${pages}`);
    const first = await this.#bytes(id * pageSize, pageSize);
    const length = (first.readUInt32LE(12) + 1) * pageSize;
    if (Number(first.readBigUInt64LE(0)) !== id || id * pageSize + length > this.size) {
      throw damaged(this.#what, `page ${id} is damaged`);
    }
    return length === pageSize ? first : this.#bytes(id * pageSize, length);
  }

  async #bytes(start: number, length: number): Promise<Buffer> {
    const { start: from, bytes } = this.#block;
    if (start < from || start + length > from + bytes.length) {
      const block = length > readAhead ? Buffer.alloc(length) : this.#buffer;
      const { bytesRead } = await this.#file.read(block, 0, block.length, start);
      this.#block = { start, bytes: block.subarray(0, bytesRead) };
    }
    const found = this.#block.bytes.subarray(start - this.#block.start, start - this.#block.start + length);
    if (found.length !== length) throw damaged(this.#what, "it ends too early");
    return found;
  }
}

interface Element {
  readonly key: Buffer;
  readonly value: Buffer;
  readonly flags: number;
}

function headAt(file: Buffer, at: number): Head | undefined {
  const body = file.subarray(at + pageHead, at + pageHead + 64);
  if (body.length < 64 || body.readUInt32LE(0) !== magic || body.readUInt32LE(4) !== version) return undefined;
  if (body.readBigUInt64LE(56) !== fnv1a(body.subarray(0, 56))) return undefined;
  return {
    pageSize: body.readUInt32LE(8),
    root: Number(body.readBigUInt64LE(16)),
    pages: Number(body.readBigUInt64LE(40)),
    transaction: body.readBigUInt64LE(48),
  };
}

function fnv1a(bytes: Buffer): bigint {
  return bytes.reduce((hash, byte) => BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n), 0xcbf29ce484222325n);
}

function damaged(what: string, reason: string): TalosError {
  return new TalosError("failed-precondition", `${what} is not a whole etcd database: ${reason}`, {
    hint: "Use another backup, and take a new one.",
  });
}
