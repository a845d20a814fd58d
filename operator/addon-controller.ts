// SPDX-License-Identifier: Apache-2.0
import { type Addon, addonState, applyAddon, removeAddon } from "../engine/addon/index.ts";
import type { Timing } from "../engine/index.ts";
import { EnvironmentError } from "../model/index.ts";
import { TalosError } from "../talos/errors.ts";
import { given } from "../talos/given.ts";
import type { Finding, Log } from "../watch/index.ts";
import { addonAccess, readAddons } from "../workspace/addons.ts";
import type { EventRecorder } from "./api/events.ts";
import { idOf, keyOf, type Objects } from "./api/objects.ts";
import type { ClusterProjects } from "./cluster-project.ts";
import { releaseOf } from "./environment.ts";
import { type AddonObject, type AddonStatus, addonStatus } from "./kinds/addon.ts";
import type { ClusterObject } from "./kinds/cluster.ts";
import type { Outcome } from "./runtime/controller.ts";
import type { Informer } from "./runtime/informer.ts";
import { specFaults } from "./spec-faults.ts";
import { agedConditions, timestampOf } from "./status.ts";

const finalizer = "talosmith.dev/addon";
const clusterWait = 15_000;
/** How often a release that is up to date is compared with its object. */
const interval = 5 * 60_000;

interface AddonControllerOptions {
  readonly addons: Informer<AddonObject>;
  readonly addonObjects: Objects<AddonObject>;
  readonly clusters: Informer<ClusterObject>;
  readonly projects: ClusterProjects;
  readonly events: EventRecorder;
  readonly log: Log;
  readonly timing: Timing;
}

type Facts = Omit<AddonStatus, "conditions" | "observedGeneration">;

/** Makes of each TalosClusterAddon a Helm release on its cluster. */
export class AddonController {
  readonly #options: AddonControllerOptions;

  constructor(options: AddonControllerOptions) {
    this.#options = options;
  }

  async reconcile(key: string, signal: AbortSignal): Promise<Outcome> {
    const addon = this.#options.addons.get(key);
    if (addon === undefined) return undefined;
    const cluster = this.#options.clusters.get(
      keyOf({ namespace: addon.metadata.namespace, name: addon.spec.clusterRef.name }),
    );
    if (addon.metadata.deletionTimestamp !== undefined) return this.#remove(addon, cluster, signal);
    if (cluster === undefined || !isReachable(cluster)) {
      const message = `TalosCluster ${addon.spec.clusterRef.name} ${cluster === undefined ? "is not there" : "does not answer yet"}`;
      await this.#write(
        addon,
        given({ ...addon.status, phase: addon.status.phase ?? "Pending" }),
        ready("Unknown", "WaitsForCluster", message),
        signal,
      );
      return { after: clusterWait };
    }
    return this.#install(await this.#withFinalizer(addon, signal), cluster, signal);
  }

  async #install(addon: AddonObject, cluster: ClusterObject, signal: AbortSignal): Promise<Outcome> {
    const { events, timing } = this.#options;
    const { name: release, namespace: releaseNamespace } = releaseOf(addon);
    const known = { ...addon.status, release, releaseNamespace };
    let wanted: Wanted;
    try {
      wanted = await this.#wanted(addon, cluster, signal);
    } catch (error) {
      if (!(error instanceof EnvironmentError)) throw error;
      await this.#write(addon, { ...known, phase: "Failed" }, ready("False", "InvalidSpec", specFaults(error)), signal);
      return undefined;
    }
    const before = await addonState(wanted.addon, wanted.access);
    let current = addon;
    if (before.state !== "up to date") {
      const message = before.state === "to install" ? "the release is being installed" : "the release is being changed";
      current = await this.#write(
        addon,
        { ...known, phase: "Installing" },
        ready("Unknown", "Installing", message),
        signal,
      );
    }
    try {
      const { changed, release: found } = await applyAddon(wanted.addon, wanted.access);
      const { chart, revision } = found;
      const message = `${chart}, revision ${revision}`;
      if (changed) events.normal("TalosClusterAddon", addon.metadata, "Deployed", message);
      const lastDeployedAt = changed ? timestampOf(new Date(timing.now())) : addon.status.lastDeployedAt;
      const facts = given({ ...known, phase: "Deployed" as const, chart, revision, lastDeployedAt });
      await this.#write(current, facts, ready("True", "Deployed", message), signal);
      return { after: interval };
    } catch (error) {
      if (signal.aborted) throw error;
      await this.#failed(current, wanted, error, signal);
      throw error;
    }
  }

  /** Helm goes back by itself to the revision before; a first install is taken away again. */
  async #failed(
    addon: AddonObject,
    { access, addon: wanted }: Wanted,
    error: unknown,
    signal: AbortSignal,
  ): Promise<void> {
    const { events } = this.#options;
    const { text } = TalosError.from(error);
    const { release } = await addonState(wanted, access).catch(() => ({ release: undefined }));
    const isBack = release?.status === "deployed";
    const reason = isBack ? "RolledBack" : "Failed";
    events.warning("TalosClusterAddon", addon.metadata, reason, text);
    const facts = given({
      ...addon.status,
      phase: reason,
      chart: release?.chart,
      revision: release?.revision,
    } as const);
    await this.#write(addon, facts, ready("False", reason, text), signal);
  }

  async #wanted(addon: AddonObject, cluster: ClusterObject, signal: AbortSignal): Promise<Wanted> {
    const open = await this.#options.projects.openWithAddon(cluster, addon);
    const workspace = open.workspace(signal);
    await workspace.clientFiles.fetch();
    const { name, namespace } = releaseOf(addon);
    const found = (await readAddons(workspace)).find((one) => one.name === name && one.namespace === namespace);
    if (found === undefined) throw new TalosError("internal", `no add-on ${name} in the environment`);
    return { addon: found, access: addonAccess(workspace) };
  }

  async #remove(addon: AddonObject, cluster: ClusterObject | undefined, signal: AbortSignal): Promise<Outcome> {
    const { metadata, spec } = addon;
    if (!metadata.finalizers.includes(finalizer)) return undefined;
    const goesToo = cluster === undefined || cluster.metadata.deletionTimestamp !== undefined;
    if (spec.deletionPolicy === "Delete" && !goesToo) {
      await this.#write(
        addon,
        { ...addon.status, phase: "Uninstalling" },
        ready("False", "Uninstalling", "the release is being uninstalled"),
        signal,
      );
      const workspace = (await this.#options.projects.open(cluster)).workspace(signal);
      await workspace.clientFiles.fetch();
      await removeAddon(releaseOf(addon), addonAccess(workspace));
      this.#options.events.normal("TalosClusterAddon", metadata, "Uninstalled", "the release is uninstalled");
    }
    const { addonObjects } = this.#options;
    const latest = await addonObjects.get(idOf(metadata), signal);
    const finalizers = latest.metadata.finalizers.filter((name) => name !== finalizer);
    const { resourceVersion } = latest.metadata;
    await addonObjects.patch(idOf(metadata), { metadata: { finalizers, resourceVersion } }, signal);
    return undefined;
  }

  async #withFinalizer(addon: AddonObject, signal: AbortSignal): Promise<AddonObject> {
    const { finalizers, resourceVersion } = addon.metadata;
    if (finalizers.includes(finalizer) || addon.spec.deletionPolicy === "Retain") return addon;
    const { addonObjects, addons } = this.#options;
    const change = { metadata: { finalizers: [...finalizers, finalizer], resourceVersion } };
    const written = await addonObjects.patch(idOf(addon.metadata), change, signal);
    addons.note(written);
    return written;
  }

  async #write(addon: AddonObject, facts: Facts, finding: Finding, signal: AbortSignal): Promise<AddonObject> {
    const { addonObjects, addons, timing } = this.#options;
    const { generation } = addon.metadata;
    const aged = { now: new Date(timing.now()), generation, current: generation };
    const conditions = agedConditions([finding], addon.status.conditions, aged);
    const status = { ...facts, observedGeneration: generation, conditions };
    if (JSON.stringify({ ...addon.status, ...status }) === JSON.stringify(addon.status)) return addon;
    const absent = Object.fromEntries(Object.keys(addonStatus.shape).map((field) => [field, null]));
    const written = await addonObjects.patchStatus(idOf(addon.metadata), { ...absent, ...status }, signal);
    addons.note(written);
    return written;
  }
}

interface Wanted {
  readonly addon: Addon;
  readonly access: Parameters<typeof applyAddon>[1];
}

const ready = (status: Finding["status"], reason: string, message: string): Finding => ({
  type: "Ready",
  status,
  reason,
  message,
});

/** A pod network may be such an add-on: the nodes need not be ready, the API has to answer. */
const isReachable = ({ status }: ClusterObject): boolean =>
  status.conditions.some(({ type, status: is }) => type === "KubernetesAvailable" && is === "True");
