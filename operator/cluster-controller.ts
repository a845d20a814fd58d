// SPDX-License-Identifier: Apache-2.0
import type { KubernetesApi, Step } from "../engine/index.ts";
import type { Entropy } from "../talos/clock.ts";
import { TalosError } from "../talos/errors.ts";
import { type ClusterObservation, withJitter } from "../watch/index.ts";
import { runsWithoutTerraform } from "../workspace/machine-source.ts";
import { idOf, keyOf, type Objects, ownedBy } from "./api/objects.ts";
import type { ClusterProjects, OpenCluster } from "./cluster-project.ts";
import { ClusterReport, type ClusterReportOptions, type Look } from "./cluster-report.ts";
import { deleteBundle, recordedReady, recordReady } from "./cluster-secrets.ts";
import { deployCluster, destroyCluster } from "./cluster-work.ts";
import { type Decision, decide, decideAbsent, graveFor } from "./decide.ts";
import type { ScheduleObject } from "./kinds/backup.ts";
import type { ClusterObject } from "./kinds/cluster.ts";
import { clusterLabel } from "./machine-objects.ts";
import type { Outcome } from "./runtime/controller.ts";
import type { Informer } from "./runtime/informer.ts";
import { isOfSpec, specFaults } from "./spec-faults.ts";

const finalizer = "talosmith.dev/cluster";
const confirmAnnotation = "talosmith.dev/confirm-delete";

export interface ClusterControllerOptions extends ClusterReportOptions {
  readonly api: KubernetesApi;
  readonly schedules: Informer<ScheduleObject>;
  readonly scheduleObjects: Objects<ScheduleObject>;
  readonly projects: ClusterProjects;
  readonly entropy: Entropy;
}

/** How often a cluster whose spec is refused is looked at. */
const invalidInterval = 5 * 60_000;
/** Observations after which Terraform plans again, though nothing differs. */
const planEvery = 10;

/** Makes of each TalosCluster what its spec says, as far as `manage` lets it. */
export class ClusterController {
  readonly #options: ClusterControllerOptions;
  readonly #planned = new Map<string, number>();

  readonly #report: ClusterReport;

  constructor(options: ClusterControllerOptions) {
    this.#options = options;
    this.#report = new ClusterReport(options);
  }

  async reconcile(key: string, signal: AbortSignal): Promise<Outcome> {
    const { clusters, record, projects } = this.#options;
    const object = clusters.get(key);
    if (object === undefined) {
      record.forget(key);
      await projects.forget(key);
      return undefined;
    }
    if (object.metadata.deletionTimestamp !== undefined) return this.#remove(object, signal);
    const held = await this.#withFinalizer(object, signal);
    return this.#advance(held, signal);
  }

  async #advance(object: ClusterObject, signal: AbortSignal): Promise<Outcome> {
    const { projects, record, log } = this.#options;
    const key = keyOf(object.metadata);
    let open: OpenCluster;
    try {
      open = await projects.open(object);
      refuseLocalState(object, open);
    } catch (error) {
      if (!isOfSpec(error)) throw error;
      const message = specFaults(error);
      log({ level: "error", event: "fault", environment: key, message });
      this.#options.events.warning("TalosCluster", object.metadata, "InvalidSpec", message);
      record.note(key, { tried: true, fault: message });
      await this.#report.publish(object, { situation: { kind: "invalid", message } }, signal);
      return { after: invalidInterval };
    }
    const recorded = await recordedReady(this.#options.api, object, signal);
    const known = withReadySince(object, recorded.readySince);
    const first = await this.#look(known, open, recorded.bundle, signal);
    const look = first.kind === "work" ? await this.#work(known, open, first, signal) : first.look;
    const settled = await this.#report.settle(known, look, signal);
    await this.#noteReady(settled, recorded.readySince, signal);
    await this.#schedule(known, open, signal);
    return { after: this.#interval(open) };
  }

  /** Observes, and decides what follows. */
  async #look(
    object: ClusterObject,
    open: OpenCluster,
    bundle: boolean,
    signal: AbortSignal,
  ): Promise<
    (Decision & { readonly kind: "work"; readonly observation?: ClusterObservation }) | { kind: "look"; look: Look }
  > {
    const { manage } = object.spec;
    const wasReady = object.status.readySince !== undefined;
    const key = keyOf(object.metadata);
    try {
      const observation = await this.#observe(key, open, signal);
      const { surplus, missing, endpoint } = await deploymentOf(open, signal);
      const decision = decide(observation, {
        manage,
        wasReady,
        surplus,
        missing,
        planDue: this.#isPlanDue(key, object, observation),
        now: this.#options.timing.now(),
      });
      if (decision.kind === "work") return { ...decision, observation };
      return { kind: "look", look: { open, observation, endpoint, situation: decision.situation } };
    } catch (error) {
      const { code, message } = TalosError.from(error);
      if (signal.aborted || code !== "not-found") throw error;
      const decision = decideAbsent(message, { manage, wasReady, bundle });
      return decision.kind === "work" ? decision : { kind: "look", look: { open, situation: decision.situation } };
    }
  }

  async #observe(key: string, open: OpenCluster, signal: AbortSignal): Promise<ClusterObservation> {
    return this.#timed(key, "look", signal, () => open.project.observe(open.environment, signal));
  }

  #isPlanDue(key: string, { metadata }: ClusterObject, { manager }: ClusterObservation): boolean {
    if (manager === undefined) return false;
    const mark = `${key} ${metadata.generation}`;
    const looks = this.#planned.get(mark) ?? 0;
    this.#planned.set(mark, looks >= planEvery ? 1 : looks + 1);
    return looks === 0 || looks >= planEvery;
  }

  /** Does the work, with its progress in the status, and observes again. */
  async #work(
    object: ClusterObject,
    open: OpenCluster,
    { name, observation }: { readonly name: "Create" | "Update"; readonly observation?: ClusterObservation },
    signal: AbortSignal,
  ): Promise<Look> {
    const { events } = this.#options;
    const { metadata, spec, status } = object;
    const key = keyOf(metadata);
    const reason = { Create: "Creating", Update: "Updating" }[name];
    events.normal(
      "TalosCluster",
      metadata,
      reason,
      `${reason.toLowerCase()} the cluster, generation ${metadata.generation}`,
    );
    const progress = this.#report.progress(object, open, name, observation, signal);
    try {
      const surplus = new Set((await open.workspace(signal).machines.surplus()).map((machine) => machine.name));
      const isGrave = graveFor({ manage: spec.manage, wasReady: status.readySince !== undefined, surplus });
      const outcome = await this.#timed(key, "repair", signal, () =>
        deployCluster(open, { events: progress.listen, review: refusing(isGrave), name, signal }),
      );
      await progress.settled();
      const seen = await this.#observe(key, open, signal);
      const { endpoint } = await deploymentOf(open, signal);
      if (outcome.kind === "refused")
        return {
          open,
          observation: seen,
          endpoint,
          situation: { kind: "person", reason: "NeedsPerson", message: outcome.reason },
        };
      events.normal(
        "TalosCluster",
        metadata,
        name === "Create" ? "Created" : "Updated",
        "the machines are what the spec says",
      );
      return { open, observation: seen, endpoint, situation: { kind: "settled" } };
    } catch (error) {
      await progress.settled();
      if (signal.aborted) throw error;
      const { text } = TalosError.from(error);
      events.warning("TalosCluster", metadata, "Failed", text);
      const seen = await this.#observe(key, open, signal).catch(() => undefined);
      await this.#report.settle(
        object,
        { open, observation: seen, situation: { kind: "failed", message: text } },
        signal,
      );
      throw error;
    }
  }

  /** The first time that it is ready is recorded beside its bundle. */
  async #noteReady(object: ClusterObject, recorded: string | undefined, signal: AbortSignal): Promise<void> {
    const { readySince } = object.status;
    if (readySince === undefined || recorded !== undefined) return;
    await recordReady(this.#options.api, object, readySince, signal).catch((error) => {
      // A cluster that was made elsewhere may have its bundle in no Secret.
      if (TalosError.from(error).code !== "not-found") throw error;
    });
  }

  /** backup.schedule of the spec is a TalosEtcdBackupSchedule of the cluster's name. */
  async #schedule(object: ClusterObject, { environment }: OpenCluster, signal: AbortSignal): Promise<void> {
    const { schedules, scheduleObjects } = this.#options;
    const { backup } = environment;
    const known = schedules.get(keyOf(object.metadata));
    const isOwn = known?.metadata.ownerReferences.some(({ uid }) => uid === object.metadata.uid);
    if (backup?.schedule === undefined) {
      if (known !== undefined && isOwn) await scheduleObjects.delete(known, signal);
      return;
    }
    const { schedule, timeZone } = backup;
    if (known !== undefined && (!isOwn || (known.spec.schedule === schedule && known.spec.timeZone === timeZone)))
      return;
    const { name } = object.metadata;
    const metadata = { labels: { [clusterLabel]: name }, ownerReferences: [ownedBy("TalosCluster", object.metadata)] };
    await scheduleObjects.apply(
      idOf(object.metadata),
      { metadata, spec: { clusterRef: { name }, schedule, timeZone } },
      signal,
    );
  }

  async #withFinalizer(object: ClusterObject, signal: AbortSignal): Promise<ClusterObject> {
    const { finalizers, resourceVersion } = object.metadata;
    if (finalizers.includes(finalizer)) return object;
    return this.#changeFinalizers(object, [...finalizers, finalizer], resourceVersion, signal);
  }

  async #changeFinalizers(
    object: ClusterObject,
    finalizers: readonly string[],
    resourceVersion: string,
    signal: AbortSignal,
  ): Promise<ClusterObject> {
    const { clusterObjects, clusters } = this.#options;
    const written = await clusterObjects.patch(
      idOf(object.metadata),
      { metadata: { finalizers, resourceVersion } },
      signal,
    );
    clusters.note(written);
    return written;
  }

  /** The object is deleted: the cluster goes with it, or stays, as its policy says. */
  async #remove(object: ClusterObject, signal: AbortSignal): Promise<Outcome> {
    const { events, record, projects, clusterObjects, api } = this.#options;
    const { metadata, spec } = object;
    if (!metadata.finalizers.includes(finalizer)) return undefined;
    if (spec.deletionPolicy === "Delete") {
      if (metadata.annotations[confirmAnnotation] !== metadata.name) {
        const message = `deletionPolicy is Delete: to wipe the machines, set the annotation ${confirmAnnotation} to ${metadata.name}; to keep the cluster, set deletionPolicy to Retain`;
        events.warning("TalosCluster", metadata, "ConfirmationNeeded", message);
        const situation = { kind: "person", reason: "ConfirmationNeeded", message } as const;
        await this.#report.publish(object, { situation }, signal);
        return undefined;
      }
      await this.#destroy(object, signal);
      await deleteBundle(api, object, signal);
      events.normal("TalosCluster", metadata, "Deleted", "the machines are wiped");
    } else {
      events.normal(
        "TalosCluster",
        metadata,
        "Retained",
        "the cluster keeps running, and the Secret with its bundle stays",
      );
    }
    const latest = await clusterObjects.get(idOf(metadata), signal);
    const left = latest.metadata.finalizers.filter((name) => name !== finalizer);
    await this.#changeFinalizers(latest, left, latest.metadata.resourceVersion, signal);
    record.forget(keyOf(metadata));
    await projects.forget(keyOf(metadata));
    return undefined;
  }

  async #destroy(object: ClusterObject, signal: AbortSignal): Promise<void> {
    const open = await this.#options.projects.openExisting(object);
    const progress = this.#report.progress(object, open, "Delete", undefined, signal);
    try {
      await destroyCluster(open, { events: progress.listen, signal });
      await progress.settled();
    } catch (error) {
      await progress.settled();
      if (signal.aborted) throw error;
      const { text } = TalosError.from(error);
      this.#options.events.warning("TalosCluster", object.metadata, "Failed", text);
      await this.#report.publish(object, { situation: { kind: "failed", message: text } }, signal);
      throw error;
    }
  }

  #interval({ environment }: OpenCluster): number {
    const share = Buffer.from(this.#options.entropy(4)).readUInt32BE(0) / 2 ** 32;
    return withJitter(environment.operate.interval, share);
  }

  async #timed<T>(key: string, operation: "look" | "repair", signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const { record, timing } = this.#options;
    const begun = timing.elapsed();
    const end = (outcome: "success" | "failure" | "canceled") =>
      record.time(key, operation, outcome, timing.elapsed() - begun);
    try {
      const result = await work();
      end("success");
      return result;
    } catch (error) {
      end(signal.aborted ? "canceled" : "failure");
      throw error;
    }
  }
}

/** The operator's folder may be lost, and with it what Terraform knows of machines that cost money. */
function refuseLocalState({ spec }: ClusterObject, { environment: { kind, backend } }: OpenCluster): void {
  if (spec.manage !== "Create" || runsWithoutTerraform(kind) || backend.kind !== "local") return;
  throw new TalosError(
    "failed-precondition",
    `spec.backend.kind: found "local", expected s3 or http: machines of kind ${kind} are created through Terraform, whose state has to outlive the operator's pod`,
  );
}

/** What there is of a cluster, beside what was observed. */
interface Deployment {
  /** Machines that the spec does not have any more. */
  readonly surplus: ReadonlySet<string>;
  /** Machines of the spec that are still to be made. */
  readonly missing: readonly string[];
  readonly endpoint: string | undefined;
}

async function deploymentOf({ workspace }: OpenCluster, signal: AbortSignal): Promise<Deployment> {
  const opened = workspace(signal);
  const [surplus, deployed] = await Promise.all([opened.machines.surplus(), opened.deployed()]);
  return {
    surplus: new Set(surplus.map(({ name }) => name)),
    missing: deployed.absent,
    endpoint: deployed.spec.endpoint,
  };
}

function refusing(isGrave: (step: Step) => boolean): (steps: readonly Step[]) => void {
  return (steps) => {
    const grave = steps.filter(isGrave);
    if (grave.length === 0) return;
    throw new TalosError(
      "failed-precondition",
      `a person has to decide: ${grave.map(({ sentence }) => sentence).join("; ")}`,
    );
  };
}

const withReadySince = (object: ClusterObject, recorded: string | undefined): ClusterObject =>
  object.status.readySince !== undefined || recorded === undefined
    ? object
    : { ...object, status: { ...object.status, readySince: recorded } };
