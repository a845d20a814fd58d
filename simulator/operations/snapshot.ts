// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import { fstatSync, readSync } from "node:fs";
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { CallError } from "../machine/call-error.ts";
import type { Cluster, KubernetesObject } from "../machine/world.ts";
import { type Bucket, bolt, encodeBolt, readBolt } from "./bolt-file.ts";

/** Of the SHA-256 that ends a snapshot. */
export const hashLength = 32;

/** What a snapshot brings back: what etcd holds, not its members. */
export type SnapshotContent = Pick<Cluster, "objects" | "revision" | "restored">;

const registry = "/registry/";
const block = 512;
const pieceSize = 1_024 * 1_024;

/** An etcd snapshot of what the simulator itself holds: the database with a revision per object, then its SHA-256. */
export function encodeSnapshot({ objects }: Pick<Cluster, "objects">): Buffer {
  return sealed(encodeBolt({ key: entriesOf(objects), meta: [storageVersion] }));
}

/** About what the database takes on disk. It is asked for at every look at a cluster, and so is not written for it. */
export function databaseSize({ objects }: Pick<Cluster, "objects">): number {
  const bytes = entriesOf(objects).reduce((sum, [key, value]) => sum + bolt.elementHead + key.length + value.length, 0);
  return (4 + Math.ceil(bytes / bolt.pageSize)) * bolt.pageSize;
}

const storageVersion = [Buffer.from("storageVersion"), Buffer.from("3.6.0")] as const;

function sealed(database: Buffer): Buffer {
  return Buffer.concat([database, createHash("sha256").update(database).digest()]);
}

/** One entry per object that is newer than `since`. */
function entriesOf(objects: Cluster["objects"], since = 0): Bucket {
  return Object.entries(objects)
    .map(([key, object]) => ({ key, object, revision: Number(object.metadata.resourceVersion) }))
    .filter(({ revision }) => revision > since)
    .sort((a, b) => a.revision - b.revision || (a.key < b.key ? -1 : 1))
    .map(({ key, object, revision }, index) => [revisionKey(revision, index), keyValue(key, object, revision)]);
}

/** Objects are never changed, only replaced, each at its key: what one of them is in the database, it stays. */
const values = new WeakMap<KubernetesObject, Buffer>();

function keyValue(key: string, object: KubernetesObject, revision: number): Buffer {
  const known = values.get(object);
  if (known !== undefined) return known;
  const value = new BinaryWriter()
    .uint32(10)
    .bytes(Buffer.from(registry + key))
    .uint32(16)
    .int64(revision)
    .uint32(24)
    .int64(revision)
    .uint32(32)
    .int64(1)
    .uint32(42)
    .bytes(Buffer.from(JSON.stringify(object)))
    .finish();
  const bytes = Buffer.from(value);
  values.set(object, bytes);
  return bytes;
}

/**
 * The snapshot of a cluster that began with a real etcd's database: all of that, and what changed since. Unchanged, it
 * is the file that was restored.
 */
export function* restoredSnapshot(cluster: Cluster, file: number): Iterable<Uint8Array> {
  const since = cluster.restored?.revision ?? 0;
  if (cluster.revision === since) {
    for (let position = 0; ; ) {
      const piece = Buffer.alloc(pieceSize);
      const length = readSync(file, piece, 0, piece.length, position);
      if (length === 0) return;
      position += length;
      yield piece.subarray(0, length);
    }
  }
  const buckets: Record<string, (readonly [Buffer, Buffer])[]> = {};
  const before = new Set<string>();
  for (const { bucket, key, value } of readBolt(file)) {
    buckets[bucket] ??= [];
    buckets[bucket].push([Buffer.from(key), Buffer.from(value)]);
    if (bucket === "key") remember(before, key, value);
  }
  const gone = [...before].filter((key) => cluster.objects[key] === undefined).sort();
  const tombstones = gone.map((key, index): readonly [Buffer, Buffer] => [
    Buffer.concat([revisionKey(cluster.revision, 1_000_000 + index), Buffer.from("t")]),
    Buffer.from(
      new BinaryWriter()
        .uint32(10)
        .bytes(Buffer.from(registry + key))
        .finish(),
    ),
  ]);
  const key = [...(buckets.key ?? []), ...entriesOf(cluster.objects, since), ...tombstones];
  yield sealed(encodeBolt({ ...buckets, key }));
}

function remember(known: Set<string>, revision: Buffer, bytes: Buffer): void {
  const { key, value } = keyValueOf(bytes);
  if (isTombstone(revision)) known.delete(key.slice(registry.length));
  else if (objectIn(key, value) !== undefined) known.add(key.slice(registry.length));
}

/** Reads a snapshot's file. Throws when it is damaged, or when it has no hash and none is to be skipped. */
export function readSnapshot(file: number, name: string, skipHashCheck: boolean): SnapshotContent {
  checkHash(file, skipHashCheck);
  const objects: Record<string, KubernetesObject> = {};
  let revision = 1;
  for (const entry of readBolt(file)) {
    if (entry.bucket !== "key") continue;
    const { key, value } = keyValueOf(entry.value);
    revision = Math.max(revision, Number(entry.key.readBigInt64BE(0)));
    const object = isTombstone(entry.key) ? undefined : objectIn(key, value);
    if (object !== undefined) objects[key.slice(registry.length)] = object;
    else delete objects[key.slice(registry.length)];
  }
  const own = isSame(file, encodeSnapshot({ objects }));
  return own ? { objects, revision } : { objects, revision, restored: { snapshot: name, revision } };
}

/** etcd writes whole blocks and appends the hash, so that a file without it can be told by its length. */
function checkHash(file: number, skip: boolean): void {
  if (skip) return;
  const { size } = fstatSync(file);
  if (size % block !== hashLength) {
    throw new CallError("Unknown", "snapshot missing hash but --skip-hash-check=false");
  }
  const hash = createHash("sha256");
  const piece = Buffer.alloc(pieceSize);
  const end = size - hashLength;
  for (let position = 0; position < end; ) {
    const length = readSync(file, piece, 0, Math.min(piece.length, end - position), position);
    hash.update(piece.subarray(0, length));
    position += length;
  }
  const told = Buffer.alloc(hashLength);
  readSync(file, told, 0, hashLength, end);
  if (!hash.digest().equals(told)) throw new CallError("Unknown", "expected sha256 of the snapshot differs");
}

function isSame(file: number, bytes: Buffer): boolean {
  if (fstatSync(file).size !== bytes.length) return false;
  const found = Buffer.alloc(bytes.length);
  readSync(file, found, 0, found.length, 0);
  return found.equals(bytes);
}

/** etcd's order of changes: main revision, underscore, sub revision; a deletion has a t at the end. */
function revisionKey(main: number, sub: number): Buffer {
  const bytes = Buffer.alloc(17, "_");
  bytes.writeBigInt64BE(BigInt(main), 0);
  bytes.writeBigInt64BE(BigInt(sub), 9);
  return bytes;
}

function isTombstone(revision: Buffer): boolean {
  return revision.length === 18;
}

/** An object as the simulator wrote it. A real API server keeps most of its objects in forms that nobody else reads. */
function objectIn(key: string, value: Buffer): KubernetesObject | undefined {
  if (!key.startsWith(registry) || value[0] !== 0x7b) return undefined;
  try {
    const found = JSON.parse(value.toString("utf8")) as Partial<KubernetesObject>;
    return typeof found.metadata?.resourceVersion === "string" ? (found as KubernetesObject) : undefined;
  } catch {
    return undefined;
  }
}

function keyValueOf(bytes: Buffer): { readonly key: string; readonly value: Buffer } {
  const reader = new BinaryReader(bytes);
  let key = "";
  let value: Buffer = Buffer.alloc(0);
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    if (type !== WireType.LengthDelimited) reader.skip(type);
    else {
      const field = Buffer.from(reader.bytes());
      if (number === 1) key = field.toString("utf8");
      if (number === 5) value = field;
    }
  }
  return { key, value };
}
