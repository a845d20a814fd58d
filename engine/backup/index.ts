// SPDX-License-Identifier: Apache-2.0
export type { Backup } from "./backup.ts";
export {
  downloadBackup,
  expired,
  type FindOptions,
  findBackup,
  isOf,
  type Keep,
  listBackups,
  pruneBackups,
  readSealedSecrets,
  removeBackup,
  verifyBackup,
} from "./backups.ts";
export { type CreateOptions, createBackup, etcdSource, type SnapshotSource } from "./create.ts";
export { directoryStore, openStore, type Place, parseS3Url } from "./open-store.ts";
export { type RehearsalOptions, rehearseRestore } from "./rehearse-restore.ts";
export { runSchedule, type Schedule, type ScheduleOptions } from "./schedule.ts";
export { type BackupStore, ScratchFile, type StoredFile } from "./scratch-file.ts";
export { type DatabaseStatus, type SnapshotStatus, snapshotStatus } from "./snapshot-status.ts";
