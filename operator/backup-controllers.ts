// SPDX-License-Identifier: Apache-2.0
import type { Timing } from "../engine/index.ts";
import { isCron, isTimeZone, nextRun } from "../model/cron.ts";
import { TalosError } from "../talos/errors.ts";
import { given } from "../talos/given.ts";
import type { Finding, Log } from "../watch/index.ts";
import { openBackups, takeAndPrune } from "../workspace/backups.ts";
import type { EventRecorder } from "./api/events.ts";
import { idOf, keyOf, type Objects, ownedBy } from "./api/objects.ts";
import type { ClusterProjects } from "./cluster-project.ts";
import {
  type BackupObject,
  type BackupObjectStatus,
  backupStatus as backupStatusSchema,
  type ScheduleObject,
  type ScheduleStatus,
} from "./kinds/backup.ts";
import type { ClusterObject } from "./kinds/cluster.ts";
import { clusterLabel } from "./machine-objects.ts";
import type { Outcome } from "./runtime/controller.ts";
import type { Informer } from "./runtime/informer.ts";
import { agedConditions, timestampOf } from "./status.ts";

export const scheduleLabel = "talosmith.dev/schedule";

interface BackupControllerOptions {
  readonly backups: Informer<BackupObject>;
  readonly backupObjects: Objects<BackupObject>;
  readonly clusters: Informer<ClusterObject>;
  readonly projects: ClusterProjects;
  readonly events: EventRecorder;
  readonly log: Log;
  readonly timing: Timing;
}

/** How long a backup waits for its cluster before it looks again. */
const clusterWait = 15_000;

/** Takes the backup that each TalosEtcdBackup asks for, once. */
export class BackupController {
  readonly #options: BackupControllerOptions;

  constructor(options: BackupControllerOptions) {
    this.#options = options;
  }

  async reconcile(key: string, signal: AbortSignal): Promise<Outcome> {
    const { backups, clusters } = this.#options;
    const backup = backups.get(key);
    if (backup === undefined || backup.metadata.deletionTimestamp !== undefined) return undefined;
    if (backup.status.phase === "Succeeded" || backup.status.phase === "Failed") return undefined;
    const { namespace } = backup.metadata;
    const cluster = clusters.get(keyOf({ namespace, name: backup.spec.clusterRef.name }));
    if (cluster?.status.readySince === undefined) {
      const message = `TalosCluster ${backup.spec.clusterRef.name} ${cluster === undefined ? "is not there" : "was not ready yet"}`;
      await this.#write(backup, { phase: "Pending" }, complete("Unknown", "WaitsForCluster", message), signal);
      return { after: clusterWait };
    }
    await this.#take(backup, cluster, signal);
    return undefined;
  }

  async #take(backup: BackupObject, cluster: ClusterObject, signal: AbortSignal): Promise<void> {
    const { projects, events, log, timing } = this.#options;
    const startedAt = timestampOf(new Date(timing.now()));
    const about = { environment: keyOf(cluster.metadata), event: "backup" } as const;
    const running = complete("Unknown", "Running", "the snapshot is being taken");
    const begun = await this.#write(backup, { phase: "Running", startedAt }, running, signal);
    try {
      const { workspace } = await projects.open(cluster);
      const opened = await openBackups(workspace(signal));
      const again = (reason: string) => log({ ...about, level: "warning", message: `again after: ${reason}` });
      const { id, bytes, revision, sha256, removed } = await takeAndPrune(opened, again);
      const facts = { id, bytes, revision, sha256, place: opened.store.place, startedAt };
      const completedAt = timestampOf(new Date(timing.now()));
      const message = `${id}: ${bytes} bytes`;
      log({ ...about, level: "info", message: `backup ${message}` });
      for (const old of removed) log({ ...about, level: "info", message: `backup ${old}: removed` });
      events.normal("TalosEtcdBackup", backup.metadata, "Succeeded", message);
      await this.#write(
        begun,
        { phase: "Succeeded", ...facts, completedAt },
        complete("True", "Succeeded", message),
        signal,
      );
    } catch (error) {
      if (signal.aborted) throw error;
      const { text } = TalosError.from(error);
      log({ ...about, level: "error", message: text });
      events.warning("TalosEtcdBackup", backup.metadata, "Failed", text);
      const completedAt = timestampOf(new Date(timing.now()));
      await this.#write(begun, { phase: "Failed", startedAt, completedAt }, complete("False", "Failed", text), signal);
    }
  }

  async #write(
    backup: BackupObject,
    facts: Omit<BackupObjectStatus, "conditions">,
    finding: Finding,
    signal: AbortSignal,
  ): Promise<BackupObject> {
    const { backupObjects, backups, timing } = this.#options;
    const { generation } = backup.metadata;
    const now = new Date(timing.now());
    const conditions = agedConditions([finding], backup.status.conditions, { now, generation, current: generation });
    const status = { observedGeneration: generation, ...facts, conditions };
    if (JSON.stringify({ ...backup.status, ...status }) === JSON.stringify(backup.status)) return backup;
    const absent = Object.fromEntries(Object.keys(backupStatusSchema.shape).map((field) => [field, null]));
    const written = await backupObjects.patchStatus(idOf(backup.metadata), { ...absent, ...status }, signal);
    backups.note(written);
    return written;
  }
}

const complete = (status: Finding["status"], reason: string, message: string): Finding => ({
  type: "Complete",
  status,
  reason,
  message,
});

interface ScheduleControllerOptions {
  readonly schedules: Informer<ScheduleObject>;
  readonly scheduleObjects: Objects<ScheduleObject>;
  readonly backups: Informer<BackupObject>;
  readonly backupObjects: Objects<BackupObject>;
  readonly timing: Timing;
}

/** Creates a TalosEtcdBackup at the times of each schedule, and deletes old ones that have ended. */
export class ScheduleController {
  readonly #options: ScheduleControllerOptions;

  constructor(options: ScheduleControllerOptions) {
    this.#options = options;
  }

  async reconcile(key: string, signal: AbortSignal): Promise<Outcome> {
    const { schedules, scheduleObjects, backups, backupObjects, timing } = this.#options;
    const schedule = schedules.get(key);
    if (schedule === undefined || schedule.metadata.deletionTimestamp !== undefined) return undefined;
    const own = backups
      .all()
      .filter(({ metadata }) => metadata.ownerReferences.some(({ uid }) => uid === schedule.metadata.uid));
    const now = new Date(timing.now());
    const due = dueOf(schedule, own, now);
    if (due.begin !== undefined) await this.#begin(schedule, due.begin, signal);
    for (const old of surplusBackups(own, schedule.spec.historyLimit)) await backupObjects.delete(old, signal);
    const status = scheduleStatusOf(schedule, own, due, now);
    if (JSON.stringify(schedule.status) !== JSON.stringify(status)) {
      const absent = { lastScheduleTime: null, nextScheduleTime: null, lastSuccessfulTime: null, lastBackup: null };
      schedules.note(await scheduleObjects.patchStatus(idOf(schedule.metadata), { ...absent, ...status }, signal));
    }
    if (due.next === undefined) return undefined;
    // Timers are short for a year, and clocks may be set meanwhile.
    return { after: Math.max(1_000, Math.min(due.next.getTime() - timing.now(), 5 * 60_000)) };
  }

  async #begin(schedule: ScheduleObject, at: Date, signal: AbortSignal): Promise<void> {
    const { backupObjects, backups } = this.#options;
    const { namespace } = schedule.metadata;
    const cluster = schedule.spec.clusterRef.name;
    const labels = { [clusterLabel]: cluster, [scheduleLabel]: schedule.metadata.name };
    const metadata = { labels, ownerReferences: [ownedBy("TalosEtcdBackupSchedule", schedule.metadata)] };
    const id = { namespace, name: backupName(schedule, at) };
    backups.note(await backupObjects.apply(id, { metadata, spec: { clusterRef: { name: cluster } } }, signal));
  }
}

/** The same for the same time: a second leader does not begin it again. */
const backupName = ({ metadata }: ScheduleObject, at: Date) => `${metadata.name}-${Math.floor(at.getTime() / 60_000)}`;

interface Due {
  /** The time of a backup that is to begin now. */
  readonly begin?: Date;
  readonly next?: Date;
  readonly fault?: string;
}

/** What a schedule wants now. Pure. Times that pass during a backup, or while no operator runs, are one time. */
export function dueOf({ metadata, spec, status }: ScheduleObject, own: readonly BackupObject[], now: Date): Due {
  const { schedule: cron, timeZone, suspend } = spec;
  if (!isCron(cron)) return { fault: `schedule: found ${JSON.stringify(cron)}, expected cron of five fields` };
  if (!isTimeZone(timeZone))
    return { fault: `timeZone: found ${JSON.stringify(timeZone)}, expected such as Europe/Berlin` };
  if (suspend) return {};
  const times = { cron, timeZone };
  const since = new Date(status.lastScheduleTime ?? metadata.creationTimestamp ?? now);
  const first = nextRun(times, since);
  const next = nextRun(times, now);
  if (first === undefined || first > now) return given({ next: first });
  const isBusy = own.some((backup) => !hasEnded(backup));
  return isBusy ? given({ next }) : given({ begin: first, next });
}

const hasEnded = ({ status }: BackupObject) => status.phase === "Succeeded" || status.phase === "Failed";

const byAge = (a: BackupObject, b: BackupObject) =>
  (b.metadata.creationTimestamp ?? "").localeCompare(a.metadata.creationTimestamp ?? "") ||
  b.metadata.name.localeCompare(a.metadata.name);

/** Ended backups beyond the limit, the newest kept. Pure. */
export function surplusBackups(own: readonly BackupObject[], limit: number): readonly BackupObject[] {
  return [...own].filter(hasEnded).sort(byAge).slice(limit);
}

/** Pure. */
function scheduleStatusOf(
  schedule: ScheduleObject,
  own: readonly BackupObject[],
  { begin, next, fault }: Due,
  now: Date,
): ScheduleStatus {
  const { metadata, status } = schedule;
  const ended = own.flatMap((backup) => (backup.status.phase === "Succeeded" ? [backup.status.completedAt ?? ""] : []));
  const success = [...ended, status.lastSuccessfulTime ?? ""].sort().at(-1);
  const newest = begin === undefined ? [...own].sort(byAge)[0]?.metadata.name : backupName(schedule, begin);
  const last = own.filter(hasEnded).sort(byAge)[0];
  const { generation } = metadata;
  return {
    observedGeneration: generation,
    ...given({
      lastScheduleTime: begin === undefined ? status.lastScheduleTime : timestampOf(now),
      nextScheduleTime: next && timestampOf(next),
      lastSuccessfulTime: success || undefined,
      lastBackup: newest ?? status.lastBackup,
    }),
    conditions: agedConditions([readyFinding(fault, last)], status.conditions, {
      now,
      generation,
      current: generation,
    }),
  };
}

function readyFinding(fault: string | undefined, last: BackupObject | undefined): Finding {
  const is = (status: Finding["status"], reason: string, message: string) => ({
    type: "Ready",
    status,
    reason,
    message,
  });
  if (fault !== undefined) return is("False", "InvalidSpec", fault);
  if (last?.status.phase === "Failed") {
    const reason = last.status.conditions[0]?.message ?? "";
    return is("False", "BackupFailed", `${last.metadata.name}: ${reason}`);
  }
  return is("True", "Scheduled", "backups are taken by the schedule");
}
