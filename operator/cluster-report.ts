// SPDX-License-Identifier: Apache-2.0
// What is reported about a TalosCluster: its status, its machines, Events, log and metrics.
import type { Timing } from "../engine/index.ts";
import { given } from "../talos/given.ts";
import { type ClusterObservation, findingsOf, type Log, type StatusRecord, withTransitions } from "../watch/index.ts";
import type { EventRecorder } from "./api/events.ts";
import { idOf, keyOf, type Objects } from "./api/objects.ts";
import type { OpenCluster } from "./cluster-project.ts";
import { type ClusterObject, type ClusterStatus, clusterStatus as statusSchema } from "./kinds/cluster.ts";
import type { MachineObject } from "./kinds/machine.ts";
import { clusterLabel, writeMachines } from "./machine-objects.ts";
import { Progress } from "./progress.ts";
import type { Informer } from "./runtime/informer.ts";
import { clusterStatus, type Situation, timestampOf } from "./status.ts";

export interface ClusterReportOptions {
  readonly clusters: Informer<ClusterObject>;
  readonly clusterObjects: Objects<ClusterObject>;
  readonly machines: Informer<MachineObject>;
  readonly machineObjects: Objects<MachineObject>;
  readonly events: EventRecorder;
  readonly record: StatusRecord;
  readonly log: Log;
  readonly timing: Timing;
}

/** One look at a cluster, as its status will say. */
export interface Look {
  readonly open: OpenCluster;
  readonly observation?: ClusterObservation | undefined;
  readonly endpoint?: string | undefined;
  readonly situation: Situation;
}

export class ClusterReport {
  readonly #options: ClusterReportOptions;

  constructor(options: ClusterReportOptions) {
    this.#options = options;
  }

  /** Follows a run, with its steps in the status, the log and Events. */
  progress(
    object: ClusterObject,
    open: OpenCluster,
    name: "Create" | "Update" | "Delete",
    observation: ClusterObservation | undefined,
    signal: AbortSignal,
  ): Progress {
    const { events, log, timing } = this.#options;
    const key = keyOf(object.metadata);
    const startedAt = timestampOf(new Date(timing.now()));
    return new Progress(
      { name, startedAt },
      async (operation) => {
        await this.publish(object, { open, observation, situation: { kind: "working", operation } }, signal);
      },
      ({ type, message, machine }) => {
        const isGood = type === "step-finished";
        log({ level: isGood ? "info" : "warning", event: "step", environment: key, ...given({ machine }), message });
        if (isGood) events.normal("TalosCluster", object.metadata, "StepFinished", message);
        else events.warning("TalosCluster", object.metadata, "StepFailed", message);
      },
    );
  }

  /** Writes the status and the machines, and what the metrics are made of. */
  async settle(object: ClusterObject, look: Look, signal: AbortSignal): Promise<ClusterObject> {
    const { machines, machineObjects, record, timing, events } = this.#options;
    const { open, observation, situation } = look;
    const key = keyOf(object.metadata);
    const now = new Date(timing.now());
    record.note(key, { tried: true, environment: open.environment });
    const fault = situation.kind === "failed" ? situation.message : undefined;
    if (fault === undefined) record.clear(key, "fault");
    else record.note(key, { fault });
    if (situation.kind === "person" || situation.kind === "restore-needed") {
      const reason = situation.kind === "person" ? situation.reason : "RestoreNeeded";
      events.warning("TalosCluster", object.metadata, reason, situation.message);
    }
    if (observation !== undefined) {
      const conditions = withTransitions(
        findingsOf(observation, now),
        record.entries.get(key)?.observed?.conditions,
        now,
      );
      const repairAllowed = object.spec.manage !== "Observe" && observation.obstacle === undefined;
      const observed = { environment: open.environment, observation, at: now, conditions, transitions: [] };
      record.note(key, { observed, repairAllowed });
      const known = machines
        .all()
        .filter(({ metadata }) => metadata.namespace === object.metadata.namespace)
        .filter(({ metadata }) => metadata.labels[clusterLabel] === object.metadata.name);
      await writeMachines(object, open.environment, observation, { objects: machineObjects, known, now, signal });
    }
    return this.publish(object, look, signal);
  }

  /** Writes the status, where it differs. */
  async publish(
    object: ClusterObject,
    { open, observation, endpoint, situation }: Partial<Look> & Pick<Look, "situation">,
    signal: AbortSignal,
  ): Promise<ClusterObject> {
    const { clusters, clusterObjects, timing, events } = this.#options;
    const latest = clusters.get(keyOf(object.metadata));
    const before = latest?.metadata.uid === object.metadata.uid ? latest : object;
    const { readySince } = object.status;
    const status = clusterStatus({
      // What was decided is about the generation that was read.
      object: { ...object, status: { ...before.status, ...given({ readySince }) } },
      situation,
      observation,
      ...given({
        endpoint,
        configContract: observation === undefined ? undefined : open?.environment.cluster.configContract,
      }),
      now: new Date(timing.now()),
    });
    this.#tellPhase(object, before.status, status, events);
    if (JSON.stringify(sorted(before.status)) === JSON.stringify(sorted(status))) return { ...object, status };
    const written = await clusterObjects.patchStatus(idOf(object.metadata), wholeStatus(status), signal);
    clusters.note(written);
    return { ...object, status: written.status };
  }

  #tellPhase(object: ClusterObject, before: ClusterStatus, now: ClusterStatus, events: EventRecorder): void {
    if (before.phase === now.phase || now.phase === undefined) return;
    const { log } = this.#options;
    const ready = now.conditions.find(({ type }) => type === "Ready");
    const message = `${now.phase}: ${ready?.message ?? ""}`;
    const isGood = ["Ready", "Creating", "Updating", "Pending", "Deleting"].includes(now.phase);
    log({ level: isGood ? "info" : "warning", event: "condition", environment: keyOf(object.metadata), message });
    if (now.phase === "Ready") events.normal("TalosCluster", object.metadata, "Ready", ready?.message ?? "");
    if (now.phase === "NotReady") events.warning("TalosCluster", object.metadata, "NotReady", ready?.message ?? "");
  }
}

/** A merge patch keeps what it does not name: fields that are gone are named, too. */
function wholeStatus(status: ClusterStatus): Readonly<Record<string, unknown>> {
  const absent = Object.keys(statusSchema.shape).map((field) => [field, null] as const);
  return { ...Object.fromEntries(absent), ...status };
}

const sorted = (status: ClusterStatus) => Object.entries(status).sort(([a], [b]) => a.localeCompare(b));
