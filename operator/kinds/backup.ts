// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import {
  clusterRef,
  conditions,
  metadata,
  type ObjectOf,
  objectName,
  observedGeneration,
  timestamp,
} from "./common.ts";

export const backupSpec = z.object({ clusterRef });

export const backupStatus = z.object({
  observedGeneration,
  phase: z.enum(["Pending", "Running", "Succeeded", "Failed"]).optional().describe("How far the backup is."),
  id: z.string().optional().describe("Name of the backup in its place: `talosmith restore --from` takes it."),
  place: z.string().optional().describe("The folder or bucket that has it."),
  bytes: z.int().optional().describe("Size of the snapshot."),
  sha256: z.string().optional().describe("SHA-256 of the snapshot."),
  revision: z.int().optional().describe("Revision of etcd."),
  startedAt: timestamp("When it began."),
  completedAt: timestamp("When it ended."),
  conditions,
});

export type BackupObjectStatus = Readonly<z.output<typeof backupStatus>>;
export type BackupObject = ObjectOf<Readonly<z.output<typeof backupSpec>>, BackupObjectStatus>;

export const scheduleSpec = z.object({
  clusterRef,
  schedule: z.string().min(1).max(200).describe('When backups are taken, as cron of five fields, such as "0 3 * * *".'),
  timeZone: z.string().max(64).default("UTC").describe("Time zone of the schedule."),
  suspend: z.boolean().default(false).describe("Take no further backups."),
  historyLimit: z
    .int()
    .min(1)
    .max(100)
    .default(5)
    .describe("How many finished TalosEtcdBackups are kept. Snapshots are kept by backup.keep of the cluster."),
});

export const scheduleStatus = z.object({
  observedGeneration,
  lastScheduleTime: timestamp("The last time that a backup was begun."),
  nextScheduleTime: timestamp("The next time that a backup begins."),
  lastSuccessfulTime: timestamp("When the last backup that succeeded ended."),
  lastBackup: objectName.optional().describe("The newest TalosEtcdBackup."),
  conditions,
});

export type ScheduleStatus = Readonly<z.output<typeof scheduleStatus>>;
export type ScheduleObject = ObjectOf<Readonly<z.output<typeof scheduleSpec>>, ScheduleStatus>;

const backup = z.looseObject({ metadata, spec: backupSpec, status: backupStatus.prefault({}) });
const schedule = z.looseObject({ metadata, spec: scheduleSpec, status: scheduleStatus.prefault({}) });

export const readBackup = (value: unknown): BackupObject => backup.parse(value);
export const readSchedule = (value: unknown): ScheduleObject => schedule.parse(value);
