// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { CallError } from "../machine/call-error.ts";
import type { Cluster, KubernetesObject } from "../machine/world.ts";
import { decodeBolt, encodeBolt } from "./bolt-file.ts";

/** What a snapshot brings back: the Kubernetes objects, not the members. */
export type SnapshotContent = Pick<Cluster, "objects" | "revision">;

const registry = "/registry/";
const block = 512;

/** An etcd snapshot: the database with a revision per object, then the SHA-256 of it. */
export function encodeSnapshot(cluster: Cluster): Buffer {
  const entries = Object.entries(cluster.objects)
    .map(([key, object]) => ({ key, object, revision: Number(object.metadata.resourceVersion) }))
    .sort((a, b) => a.revision - b.revision || (a.key < b.key ? -1 : 1));
  const keys = entries.map(({ key, object, revision }, index): readonly [Buffer, Buffer] => {
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
      .bytes(Buffer.from(JSON.stringify(object)));
    return [revisionKey(revision, index), Buffer.from(value.finish())];
  });
  const database = encodeBolt({ key: keys, meta: [[Buffer.from("storageVersion"), Buffer.from("3.6.0")]] });
  return Buffer.concat([database, createHash("sha256").update(database).digest()]);
}

/** Reads what `encodeSnapshot` wrote, given in base64. Throws when it is damaged, or when it has no hash and none is to be skipped. */
export function restoreSnapshot(base64: string, skipHashCheck: boolean): SnapshotContent {
  const file = Buffer.from(base64, "base64");
  const hashed = file.length % block === 32;
  if (!hashed && !skipHashCheck) throw new CallError("Unknown", "snapshot missing hash but --skip-hash-check=false");
  const database = hashed ? file.subarray(0, -32) : file;
  const sum = createHash("sha256").update(database).digest();
  if (hashed && !skipHashCheck && !sum.equals(file.subarray(-32))) {
    throw new CallError("Unknown", "expected sha256 of the snapshot differs");
  }
  const objects: Record<string, KubernetesObject> = {};
  let revision = 1;
  for (const [, bytes] of decodeBolt(database, "key")) {
    const { key, value } = keyValueOf(bytes);
    if (!key.startsWith(registry)) continue;
    const object = JSON.parse(value) as KubernetesObject;
    objects[key.slice(registry.length)] = object;
    revision = Math.max(revision, Number(object.metadata.resourceVersion));
  }
  return { objects, revision };
}

/** etcd's order of changes: main revision, underscore, sub revision. */
function revisionKey(main: number, sub: number): Buffer {
  const bytes = Buffer.alloc(17, "_");
  bytes.writeBigInt64BE(BigInt(main), 0);
  bytes.writeBigInt64BE(BigInt(sub), 9);
  return bytes;
}

function keyValueOf(bytes: Buffer): { key: string; value: string } {
  const reader = new BinaryReader(bytes);
  const found = { key: "", value: "" };
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    if (type !== WireType.LengthDelimited) reader.skip(type);
    else {
      const text = Buffer.from(reader.bytes()).toString("utf8");
      if (number === 1) found.key = text;
      if (number === 5) found.value = text;
    }
  }
  return found;
}
