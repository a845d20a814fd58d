// SPDX-License-Identifier: Apache-2.0
import { checkHealth, creationSteps, previewCluster } from "../../engine/index.ts";
import { controlPlanePool, type Environment, machinesOf } from "../../model/index.ts";
import { TalosError } from "../../talos/errors.ts";
import type { BrokenEnvironment, ClusterView, OperationView } from "../shared/wire.ts";
import { withWork } from "./at-work.ts";
import { agedConditions, certificateRows, etcdRows, machineRows } from "./cluster-view.ts";
import { differencesOf } from "./config-differences.ts";
import { plannedStep, viewOfElsewhere } from "./operation-view.ts";
import type { ConsoleProject, OpenedCluster } from "./project.ts";

export interface WatcherOptions {
  readonly project: ConsoleProject;
  readonly changed: () => void;
  readonly now: () => Date;
  /** Milliseconds between two looks. */
  readonly interval: number;
}

const backupsEvery = 60_000;
/** What is told in the place of the environments while they cannot be listed. */
const folder = "environments/";

/** Looks at every environment again and again, while somebody watches. */
export class Watcher {
  readonly #options: WatcherOptions;
  readonly #views = new Map<string, ClusterView | BrokenEnvironment>();
  readonly #backupsOf = new Map<string, { readonly at: number; readonly view: ClusterView["backups"] }>();
  readonly #elsewhere = new Map<string, OperationView>();
  #stop: AbortController | undefined;
  #watching: Promise<void> = Promise.resolve();
  #wake = new AbortController();

  constructor(options: WatcherOptions) {
    this.#options = options;
  }

  get clusters(): readonly ClusterView[] {
    return this.#sorted().filter((view): view is ClusterView => !("fault" in view));
  }

  get broken(): readonly BrokenEnvironment[] {
    return this.#sorted().filter((view): view is BrokenEnvironment => "fault" in view);
  }

  /** The last work on each environment that another process was seen doing. */
  get elsewhere(): readonly OperationView[] {
    return [...this.#elsewhere.values()];
  }

  /** Environments whose first look has not come back. */
  get unseen(): readonly string[] {
    return this.#options.project.environmentNames().filter((name) => !this.#views.has(name));
  }

  /** Whoever answers first is not first each time. */
  #sorted(): readonly (ClusterView | BrokenEnvironment)[] {
    const names = [...this.#views.keys()].sort();
    return names.flatMap((name) => this.#views.get(name) ?? []);
  }

  start(): void {
    if (this.#stop !== undefined) return;
    const stop = new AbortController();
    this.#stop = stop;
    this.#watching = this.#watch(stop.signal);
  }

  async stop(): Promise<void> {
    this.#stop?.abort();
    this.#stop = undefined;
    await this.#watching;
  }

  async #watch(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#wake = new AbortController();
      await this.look(signal);
      await pause(this.#options.interval, AbortSignal.any([signal, this.#wake.signal]));
    }
  }

  /** Something was done: what was seen before is old, and people wait for what comes of it. */
  lookSoon(): void {
    this.#backupsOf.clear();
    this.#wake.abort();
  }

  /** One look at everything, side by side: a slow cluster does not keep the others waiting. Never throws. */
  async look(signal: AbortSignal): Promise<void> {
    let names: readonly string[];
    try {
      names = this.#options.project.environmentNames();
    } catch (error) {
      this.#views.set(folder, { environment: folder, fault: TalosError.from(error).message });
      this.#options.changed();
      return;
    }
    for (const gone of [...this.#views.keys()].filter((name) => !names.includes(name))) this.#views.delete(gone);
    await Promise.all(
      names.map(async (name) => {
        const view = await this.#view(name, signal);
        if (signal.aborted) return;
        this.#views.set(name, view);
        this.#options.changed();
      }),
    );
  }

  async #view(name: string, signal: AbortSignal): Promise<ClusterView | BrokenEnvironment> {
    const { project } = this.#options;
    let environment: Environment;
    try {
      environment = project.loadEnvironment(name);
    } catch (error) {
      return { environment: name, fault: TalosError.from(error).message };
    }
    const empty = emptyView(environment);
    const work = await this.#workElsewhere(environment);
    try {
      const known = { ...empty, ...(await this.#around(environment, signal)) };
      const opened = await project.openCluster(environment);
      if (opened === undefined) return { ...known, pending: firstSteps(environment) };
      const seen = { ...known, ...(await this.#seen(environment, opened, signal)) };
      // Once more: what is silent now may be so because of a step that began during the look.
      return withWork(seen, await this.#workElsewhere(environment));
    } catch (error) {
      // Who works on it may be writing its state right now.
      if (work.length > 0) return this.#views.get(name) ?? empty;
      return { ...empty, state: "unknown", note: TalosError.from(error).message };
    }
  }

  async #workElsewhere(environment: Environment): Promise<readonly OperationView[]> {
    const run = await this.#options.project.elsewhere(environment);
    if (run === undefined) return [];
    const view = viewOfElsewhere(environment.name, run);
    this.#elsewhere.set(environment.name, view);
    return view.endedAt === null ? [view] : [];
  }

  /** What is known without asking the cluster. */
  async #around(
    environment: Environment,
    signal: AbortSignal,
  ): Promise<Pick<ClusterView, "backups" | "simulated" | "obstacle">> {
    const { project } = this.#options;
    const simulated = (await project.simulatedMachines(environment)) ?? null;
    const obstacle = (await project.obstacle(environment)) ?? null;
    return { backups: await this.#backups(environment, signal), simulated, obstacle };
  }

  /** Listing a bucket costs money and time: seldom, and after every operation. */
  async #backups(environment: Environment, signal: AbortSignal): Promise<ClusterView["backups"]> {
    const now = this.#options.now().getTime();
    const known = this.#backupsOf.get(environment.name);
    if (known !== undefined && now - known.at < backupsEvery) return known.view;
    const view = (await this.#options.project.backups(environment, signal)) ?? null;
    this.#backupsOf.set(environment.name, { at: now, view });
    return view;
  }

  async #seen(environment: Environment, { desired, absent, secrets, policy }: OpenedCluster, signal: AbortSignal) {
    const { project, now } = this.#options;
    const [{ observed, steps }, health, certificates] = await Promise.all([
      previewCluster({ desired, secrets, policy, signal }),
      checkHealth({ desired, secrets, policy, signal, wait: false }),
      project.clientCertificates(environment),
    ]);
    const before = this.clusters.find((view) => view.environment === environment.name);
    const failed = health.conditions.find(({ state }) => state === "failed");
    return {
      endpoint: desired.endpoint,
      state: health.healthy ? ("healthy" as const) : ("unhealthy" as const),
      note: failed === undefined ? null : `${failed.name}: ${failed.reason ?? "not met"}`,
      seenAt: now().toISOString(),
      machines: machineRows(desired, observed),
      conditions: agedConditions(health.conditions, before?.conditions ?? [], now()),
      etcd: etcdRows(observed),
      pending: [...creationSteps(absent), ...steps.map(plannedStep)],
      differences: differencesOf(desired, observed, steps, secrets),
      certificates: certificateRows(certificates, now()),
    };
  }
}

/** Before anything is there: the machines that are made, where they are made and not only taken in. */
function firstSteps(environment: Environment): ClusterView["pending"] {
  return environment.kind === "metal" ? [] : creationSteps(machinesOf(environment).map(({ name }) => name));
}

function emptyView({ name, kind, cluster, controlPlane, workers }: Environment): ClusterView {
  return {
    environment: name,
    kind,
    cluster: cluster.name,
    talosVersion: cluster.talosVersion,
    kubernetesVersion: cluster.kubernetesVersion,
    endpoint: null,
    state: "not deployed",
    note: null,
    seenAt: null,
    machines: [],
    conditions: [],
    etcd: null,
    pending: [],
    differences: [],
    certificates: [],
    pools: [
      ...(controlPlane === undefined ? [] : [{ name: controlPlanePool, count: controlPlane.count }]),
      ...workers.map((pool) => ({ name: pool.name, count: pool.count })),
    ],
    backups: null,
    simulated: null,
    obstacle: null,
  };
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(done, milliseconds);
    function done() {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
    signal.addEventListener("abort", done);
  });
}
