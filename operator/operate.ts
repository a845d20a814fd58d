// SPDX-License-Identifier: Apache-2.0
import { setMaxListeners } from "node:events";
import type { KubernetesApi, Timing } from "../engine/index.ts";
import type { Entropy } from "../talos/clock.ts";
import type { TalosError } from "../talos/errors.ts";
import type { Log, QueueCounts, StatusRecord } from "../watch/index.ts";
import type { WorkspaceContext } from "../workspace/context.ts";
import { AddonController } from "./addon-controller.ts";
import { eventRecorder } from "./api/events.ts";
import { type AnyObject, keyOf, Objects } from "./api/objects.ts";
import { BackupController, ScheduleController, scheduleLabel } from "./backup-controllers.ts";
import { ClusterController } from "./cluster-controller.ts";
import { ClusterProjects } from "./cluster-project.ts";
import { releaseOf } from "./environment.ts";
import { readAddon } from "./kinds/addon.ts";
import { readBackup, readSchedule } from "./kinds/backup.ts";
import { readCluster } from "./kinds/cluster.ts";
import type { KindName } from "./kinds/common.ts";
import { readMachine } from "./kinds/machine.ts";
import { readPool } from "./kinds/pool.ts";
import { clusterLabel } from "./machine-objects.ts";
import { keysOfPools, PoolController, refersTo } from "./pool-controller.ts";
import { Controller, type ControllerOptions } from "./runtime/controller.ts";
import { Informer } from "./runtime/informer.ts";
import { type QueueLimits, WorkQueue } from "./runtime/queue.ts";

export interface OperateObjectsOptions {
  readonly api: KubernetesApi;
  /** Undefined: the objects of every namespace. */
  readonly namespace: string | undefined;
  /** Folder of the operator's own; what it holds may be lost. */
  readonly folder: string;
  readonly context: WorkspaceContext;
  readonly record: StatusRecord;
  readonly log: Log;
  readonly timing: Timing;
  readonly entropy: Entropy;
  /** How many clusters are worked on at once. @default 10 */
  readonly workers?: number;
  readonly limits?: QueueLimits;
  /** Gets what tells of the queues, for metrics. */
  readonly queues?: (facts: () => ReadonlyMap<string, QueueCounts>) => void;
  readonly signal: AbortSignal;
}

/** Makes of the objects what their specs say. Returns when the signal has fired and everything has come to a safe point. */
export async function operateObjects(options: OperateObjectsOptions): Promise<void> {
  const { api, namespace, folder, context, record, log, timing, entropy, workers = 10, limits, signal } = options;
  // Each watch and each object that is worked on listens to it.
  setMaxListeners(0, signal);
  const queues = new Map<KindName, WorkQueue>();
  const controllers: Controller[] = [];
  const informers: Informer<AnyObject>[] = [];
  const events = eventRecorder({ api, now: () => new Date(timing.now()) });
  const failed = (kind: KindName) => (key: string, error: TalosError, again: number) => {
    record.note(key, { tried: true });
    const after = `${Math.round(again / 1000)} s`;
    log({ level: "error", event: "fault", environment: key, message: `${kind}: ${error.text} (again in ${after})` });
  };
  const controller = (kind: KindName, reconcile: ControllerOptions["reconcile"], count: number) => {
    const queue = new WorkQueue(timing, limits);
    queues.set(kind, queue);
    const made = new Controller({ queue, workers: count, reconcile, failed: failed(kind) });
    controllers.push(made);
    return made;
  };
  const informer = <T extends AnyObject>(
    objects: Objects<T>,
    changed: (key: string, now: T | undefined, before: T | undefined) => void,
  ): Informer<T> => {
    const lost = (error: TalosError) =>
      log({ level: "warning", event: "fault", message: `${objects.kind}: ${error.message}` });
    const made = new Informer<T>({ objects, timing, changed, failed: lost });
    informers.push(made as unknown as Informer<AnyObject>);
    return made;
  };

  const clusterObjects = new Objects(api, "TalosCluster", namespace, readCluster);
  const poolObjects = new Objects(api, "TalosMachinePool", namespace, readPool);
  const machineObjects = new Objects(api, "TalosMachine", namespace, readMachine);
  const clusters = informer(clusterObjects, (key, now, before) => {
    if (now !== undefined && before === undefined) record.note(key, {});
    if (!concerns(now, before)) return;
    // What is being done is for a spec that is no longer the one.
    if (before !== undefined) clusterController.interrupt(key);
    clusterController.queue.add(key);
    for (const pool of now === undefined ? [] : keysOfPools(now)) poolController.queue.add(pool);
  });
  const pools = informer(poolObjects, (key, now, before) => {
    if (!concerns(now, before)) return;
    poolController.queue.add(key);
    for (const cluster of clusters.all().filter((candidate) => refersTo(candidate, key))) {
      if (before !== undefined) clusterController.interrupt(keyOf(cluster.metadata));
      clusterController.queue.add(keyOf(cluster.metadata));
    }
  });
  const machines = informer(machineObjects, (_key, now, before) => {
    const { metadata } = now ?? before ?? {};
    const cluster = metadata && clusters.get(keyOf({ ...metadata, name: metadata.labels[clusterLabel] ?? "" }));
    for (const pool of cluster === undefined ? [] : keysOfPools(cluster)) poolController.queue.add(pool);
  });
  const backupObjects = new Objects(api, "TalosEtcdBackup", namespace, readBackup);
  const backups = informer(backupObjects, (key, now, before) => {
    if (concerns(now, before)) backupController.queue.add(key);
    const { metadata } = now ?? before ?? {};
    const schedule = metadata?.labels[scheduleLabel];
    if (schedule !== undefined && metadata !== undefined)
      scheduleController.queue.add(keyOf({ namespace: metadata.namespace, name: schedule }));
  });
  const scheduleObjects = new Objects(api, "TalosEtcdBackupSchedule", namespace, readSchedule);
  const schedules = informer(scheduleObjects, (key, now, before) => {
    if (concerns(now, before)) scheduleController.queue.add(key);
  });
  const addonObjects = new Objects(api, "TalosClusterAddon", namespace, readAddon);
  const addons = informer(addonObjects, (key, now, before) => {
    if (!concerns(now, before)) return;
    if (before !== undefined) addonController.interrupt(key);
    addonController.queue.add(key);
  });
  const projects = new ClusterProjects({
    folder,
    api,
    context,
    cluster: (key) => clusters.get(key),
    releases: (key) =>
      addons
        .all()
        .filter(({ metadata, spec }) => keyOf({ namespace: metadata.namespace, name: spec.clusterRef.name }) === key)
        .map(releaseOf),
    pools: (home) =>
      new Map(
        pools
          .all()
          .filter(({ metadata }) => metadata.namespace === home)
          .map((pool) => [pool.metadata.name, pool]),
      ),
  });
  const work = new ClusterController({
    ...{ api, clusters, clusterObjects, machines, machineObjects, schedules, scheduleObjects },
    ...{ projects, events, record, log, timing, entropy },
  });
  const poolWork = new PoolController({ pools, poolObjects, clusters, machines, timing });
  const clusterController = controller("TalosCluster", (key, within) => work.reconcile(key, within), workers);
  const poolController = controller("TalosMachinePool", (key, within) => poolWork.reconcile(key, within), 2);
  const backupWork = new BackupController({ backups, backupObjects, clusters, projects, events, log, timing });
  const backupController = controller("TalosEtcdBackup", (key, within) => backupWork.reconcile(key, within), 4);
  const scheduleWork = new ScheduleController({ schedules, scheduleObjects, backups, backupObjects, timing });
  const scheduleController = controller(
    "TalosEtcdBackupSchedule",
    (key, within) => scheduleWork.reconcile(key, within),
    1,
  );
  const addonWork = new AddonController({ addons, addonObjects, clusters, projects, events, log, timing });
  const addonController = controller("TalosClusterAddon", (key, within) => addonWork.reconcile(key, within), 4);

  options.queues?.(() => new Map([...queues].map(([kind, queue]) => [kind, queue.facts])));
  const watching = informers.map((one) => one.run(signal));
  // Nothing is decided before everything is known: a pool that was not listed yet is not missing.
  await Promise.race([Promise.all(informers.map(({ synced }) => synced)), aborted(signal)]);
  await Promise.all([...controllers.map((one) => one.run(signal)), ...watching]);
  await events.settled();
}

/** Whether a change is one of the spec, or of how the object is to be treated; a new status is our own. */
function concerns(now: AnyObject | undefined, before: AnyObject | undefined): boolean {
  if (now === undefined || before === undefined) return true;
  const [a, b] = [now.metadata, before.metadata];
  return (
    a.uid !== b.uid ||
    a.generation !== b.generation ||
    a.deletionTimestamp !== b.deletionTimestamp ||
    JSON.stringify(a.annotations) !== JSON.stringify(b.annotations)
  );
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
