// SPDX-License-Identifier: Apache-2.0
export type { Backup } from "./backup.ts";
export {
  downloadBackup,
  type FindOptions,
  findBackup,
  isOf,
  listBackups,
  pruneBackups,
  readSealedSecrets,
  removeBackup,
  verifyBackup,
} from "./backups.ts";
export { type CreateOptions, createBackup } from "./create.ts";
export { directoryStore } from "./directory-store.ts";
export { openStore, type Place, parseS3Url } from "./open-store.ts";
export { type RehearsalOptions, rehearseRestore } from "./rehearse-restore.ts";
export { expired, type Keep } from "./retention.ts";
export { runSchedule, type Schedule, type ScheduleOptions } from "./schedule.ts";
export { ScratchFile } from "./scratch-file.ts";
export { etcdSource, type SnapshotSource } from "./snapshot-source.ts";
export { type DatabaseStatus, type SnapshotStatus, snapshotStatus } from "./snapshot-status.ts";
export type { BackupStore, StoredFile } from "./store.ts";
