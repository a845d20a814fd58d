// SPDX-License-Identifier: Apache-2.0
import type { StoredResource } from "./item.ts";

export interface ResourceChange {
  /** Counts the changes of a type since its log was begun. */
  readonly position: number;
  readonly before: StoredResource | undefined;
  readonly after: StoredResource | undefined;
}

/** What the real runtime keeps: a hundred changes, the oldest five of which are about to be overwritten. */
const kept = 95;

/** The recent changes of one resource type on one machine: what watches read, and what a bookmark points into. */
export class ChangeLog {
  #changes: ResourceChange[] = [];
  #next = 0;

  /** The position that the next change gets. */
  get end(): number {
    return this.#next;
  }

  record(before: ReadonlyMap<string, StoredResource>, after: ReadonlyMap<string, StoredResource>): void {
    for (const [id, resource] of after) {
      if (before.get(id) !== resource) this.#add(before.get(id), resource);
    }
    for (const [id, resource] of before) if (!after.has(id)) this.#add(resource, undefined);
    this.#changes = this.#changes.slice(-kept);
  }

  #add(before: StoredResource | undefined, after: StoredResource | undefined): void {
    this.#changes.push({ position: this.#next, before, after });
    this.#next += 1;
  }

  from(position: number): readonly ResourceChange[] {
    return this.#changes.filter((change) => change.position >= position);
  }

  /** True when a watch can go on after the change at this position; -1 is before the first. */
  reaches(position: number): boolean {
    return position >= Math.max(-1, this.#next - kept) && position < this.#next;
  }

  /** Where the last so many changes begin that concern these resources. */
  tail(count: number, concerns: (change: ResourceChange) => boolean): number {
    return this.#changes.filter(concerns).slice(-count)[0]?.position ?? this.#next;
  }
}

/** Eight bytes that belong to this boot of this machine, then the position: an older boot's bookmark fits nowhere. */
export function encodeBookmark(cookie: Uint8Array, position: number): Uint8Array {
  const bytes = Buffer.alloc(16);
  bytes.set(cookie.subarray(0, 8));
  bytes.writeBigInt64BE(BigInt(position), 8);
  return bytes;
}

/** The position in a bookmark; undefined when it is none of this boot's. */
export function decodeBookmark(cookie: Uint8Array, bookmark: Uint8Array): number | undefined {
  const bytes = Buffer.from(bookmark);
  if (bytes.length !== 16 || !bytes.subarray(0, 8).equals(cookie.subarray(0, 8))) return undefined;
  return Number(bytes.readBigInt64BE(8));
}
