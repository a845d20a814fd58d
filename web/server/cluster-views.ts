// SPDX-License-Identifier: Apache-2.0
import { systemTiming } from "../../engine/index.ts";
import type { Environment } from "../../model/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { ClusterWatcher, type Observed, watchAll } from "../../watch/index.ts";
import type { BrokenEnvironment, ClusterView, OperationView } from "../shared/wire.ts";
import {
  type ConsoleObservation,
  emptyView,
  observedView,
  type Surroundings,
  undeployedView,
  withWork,
} from "./cluster-view.ts";
import { viewOfElsewhere } from "./operation-view.ts";
import type { ConsoleProject } from "./project.ts";

interface ClusterViewsOptions {
  readonly project: ConsoleProject;
  readonly changed: () => void;
  readonly now: () => Date;
  /** Milliseconds between two observations of a cluster. */
  readonly interval: number;
}

/** What is shown in the place of the environments while they cannot be listed. */
const folder = "environments/";

/** What a person sees of every environment, from a watcher of each, while somebody looks. */
export class ClusterViews {
  readonly #options: ClusterViewsOptions;
  readonly #watchers = new Map<string, ClusterWatcher<ConsoleObservation>>();
  readonly #views = new Map<string, ClusterView | BrokenEnvironment>();
  readonly #elsewhere = new Map<string, OperationView>();
  #names: readonly string[] = [];
  #stop: AbortController | undefined;
  #watching: Promise<void> = Promise.resolve();

  constructor(options: ClusterViewsOptions) {
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

  /** Environments whose first observation has not ended. */
  get unseen(): readonly string[] {
    return this.#names.filter((name) => !this.#views.has(name));
  }

  /** The first that answers is not the same each time. */
  #sorted(): readonly (ClusterView | BrokenEnvironment)[] {
    const names = [...this.#views.keys()].sort();
    return names.flatMap((name) => this.#views.get(name) ?? []);
  }

  start(): void {
    if (this.#stop !== undefined) return;
    const stop = new AbortController();
    this.#stop = stop;
    this.#watching = watchAll({
      names: () => this.#list(),
      timing: systemTiming,
      listEvery: this.#options.interval,
      signal: stop.signal,
      watch: (name, signal) => this.#watcherOf(name).run(signal),
      removed: (name) => {
        this.#watchers.delete(name);
        this.#views.delete(name);
        this.#options.changed();
      },
      failed: ({ message }, name = folder) => this.#show(name, { environment: name, fault: message }),
    });
  }

  async stop(): Promise<void> {
    this.#stop?.abort();
    this.#stop = undefined;
    await this.#watching;
  }

  /** Something was done: what was seen before is old, and people wait for what comes of it. */
  refresh(): void {
    this.#options.project.forgetBackups();
    for (const watcher of this.#watchers.values()) watcher.refresh();
  }

  /** Observes every environment once. */
  async observeOnce(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#list().map((name) => this.#watcherOf(name).turn(signal)));
  }

  #list(): readonly string[] {
    this.#names = this.#options.project.environmentNames();
    this.#views.delete(folder);
    return this.#names;
  }

  #watcherOf(name: string): ClusterWatcher<ConsoleObservation> {
    const { project, now, interval } = this.#options;
    const known = this.#watchers.get(name);
    if (known !== undefined) return known;
    const watcher = new ClusterWatcher(name, {
      project: {
        ...project,
        observe: async (environment, signal) => {
          await this.#workElsewhere(environment);
          return project.observe(environment, signal);
        },
      },
      timing: { ...systemTiming, now: () => now().getTime() },
      pause: () => interval,
      listener: {
        observed: async (observed, signal) => {
          const view = await this.#observedView(observed, signal);
          if (!signal.aborted) this.#show(name, view);
        },
        failed: async (error, environment, signal) => {
          const view =
            environment === undefined
              ? { environment: name, fault: error.message }
              : await this.#failedView(error, environment, signal);
          if (!signal.aborted) this.#show(name, view);
        },
      },
    });
    this.#watchers.set(name, watcher);
    return watcher;
  }

  #show(name: string, view: ClusterView | BrokenEnvironment): void {
    this.#views.set(name, view);
    this.#options.changed();
  }

  async #observedView(observed: Observed<ConsoleObservation>, signal: AbortSignal): Promise<ClusterView> {
    const { environment } = observed;
    const view = observedView(observed, await this.#surroundings(environment, signal));
    // Once more: what is unreachable now may be so because of a step that began during the observation.
    return withWork(view, await this.#workElsewhere(environment));
  }

  async #failedView(
    error: TalosError,
    environment: Environment,
    signal: AbortSignal,
  ): Promise<ClusterView | BrokenEnvironment> {
    const { name } = environment;
    // Another process may have been writing the state when it was read.
    const wasWorking = this.#elsewhere.get(name)?.endedAt === null;
    try {
      if (error.code === "not-found") return undeployedView(environment, await this.#surroundings(environment, signal));
      const isWorking = wasWorking || (await this.#workElsewhere(environment)).length > 0;
      if (isWorking) return this.#views.get(name) ?? emptyView(environment);
      return { ...emptyView(environment), state: "unknown", note: error.message };
    } catch (failure) {
      return { ...emptyView(environment), state: "unknown", note: TalosError.from(failure).message };
    }
  }

  async #workElsewhere(environment: Environment): Promise<readonly OperationView[]> {
    const run = await this.#options.project.elsewhere(environment);
    if (run === undefined) return [];
    const view = viewOfElsewhere(environment.name, run);
    this.#elsewhere.set(environment.name, view);
    return view.endedAt === null ? [view] : [];
  }

  async #surroundings(environment: Environment, signal: AbortSignal): Promise<Surroundings> {
    const { project } = this.#options;
    const simulated = (await project.simulatedMachines(environment)) ?? null;
    const obstacle = (await project.obstacle(environment)) ?? null;
    return { backups: (await project.backups(environment, signal)) ?? null, simulated, obstacle };
  }
}
