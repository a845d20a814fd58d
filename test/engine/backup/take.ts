// SPDX-License-Identifier: Apache-2.0
import { type BackupStore, createBackup, type SnapshotSource } from "../../../engine/backup/index.ts";
import { systemTiming } from "../../../engine/index.ts";
import { realSnapshot, sourceOf } from "../../support/etcd-snapshot.ts";

/** Pauses of no length, so that a test of many attempts takes no time. */
const hasty = { ...systemTiming, sleep: async () => {} };
let taken = 0;

/** A backup of the cluster `lab`, each a day after the one before. */
export function take(store: BackupStore, source: SnapshotSource = sourceOf(realSnapshot), more: object = {}) {
  taken += 1;
  const takenAt = new Date(Date.UTC(2026, 0, taken));
  const random = (count: number) => new Uint8Array(count).fill(taken);
  return createBackup({
    cluster: "lab",
    caFingerprint: "ca",
    source,
    store,
    clock: { now: () => takenAt },
    entropy: random,
    timing: hasty,
    ...more,
  });
}
