// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import { CallError } from "../machine/call-error.ts";
import type { Cluster } from "../machine/world.ts";

/** What a snapshot brings back: the Kubernetes objects, not the members. */
export type SnapshotContent = Pick<Cluster, "objects" | "revision">;

const magic = "talosmith simulated etcd snapshot\n";
const page = 512;

/** A file with the outer form of an etcd snapshot: whole pages, then the SHA-256 of them. */
export function encodeSnapshot(cluster: Cluster): Buffer {
  const body = Buffer.from(magic + JSON.stringify({ objects: cluster.objects, revision: cluster.revision }));
  const padded = Buffer.concat([body, Buffer.alloc((page - (body.length % page)) % page)]);
  return Buffer.concat([padded, createHash("sha256").update(padded).digest()]);
}

/** Reads what `encodeSnapshot` wrote, given in base64. Throws when it is damaged, or when it has no hash and none is to be skipped. */
export function restoreSnapshot(base64: string, skipHashCheck: boolean): SnapshotContent {
  const file = Buffer.from(base64, "base64");
  const hashed = file.length % page === 32;
  if (!hashed && !skipHashCheck) throw new CallError("Unknown", "snapshot missing hash but --skip-hash-check=false");
  const body = hashed ? file.subarray(0, -32) : file;
  if (hashed && !skipHashCheck && !createHash("sha256").update(body).digest().equals(file.subarray(-32))) {
    throw new CallError("Unknown", "expected sha256 differs from the snapshot's");
  }
  const text = body.toString("utf8");
  if (!text.startsWith(magic)) throw new CallError("Unknown", "snapshot file is not a simulated etcd database");
  return JSON.parse(text.slice(magic.length).replace(/\0+$/, "")) as SnapshotContent;
}
