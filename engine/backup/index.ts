// SPDX-License-Identifier: Apache-2.0
export type { Backup } from "./backup.ts";
export {
  downloadBackup,
  expired,
  findBackup,
  isOf,
  type Keep,
  listBackups,
  pruneBackups,
  removeBackup,
  verifyBackup,
} from "./backups.ts";
export { createBackup, etcdSource, type SnapshotSource } from "./create.ts";
export { type Drill, drillVerdict, rehearseBackup } from "./drill.ts";
export { directoryStore, openStore, parseS3Url } from "./open-store.ts";
export { runSchedule, type Schedule } from "./schedule.ts";
export { type BackupStore, ScratchFile } from "./scratch-file.ts";
export { type SnapshotStatus, snapshotStatus } from "./snapshot-status.ts";
