// SPDX-License-Identifier: Apache-2.0
import { runSchedule } from "../engine/backup/index.ts";
import type { Step, Timing, ToldEvent } from "../engine/index.ts";
import type { Environment } from "../model/index.ts";
import type { Entropy } from "../talos/clock.ts";
import { TalosError } from "../talos/errors.ts";
import { given } from "../talos/given.ts";
import { scheduleOf } from "../workspace/backups.ts";
import { conditionText, isGood, type Transition } from "./conditions.ts";
import { needsPerson, retryDelay, verdictOn, withJitter } from "./decide.ts";
import type { Log, LogEntry } from "./log.ts";
import type { ClusterObservation } from "./observe-cluster.ts";
import type { RepairOutcome, WatchedProject } from "./project.ts";
import type { Operation, StatusRecord } from "./status-record.ts";
import { ClusterWatcher, type Observed, type WatchListener, watchAll } from "./watcher.ts";

export interface OperateOptions {
  readonly project: WatchedProject;
  readonly record: StatusRecord;
  readonly log: Log;
  readonly timing: Timing;
  readonly entropy: Entropy;
  /** Repair whatever the files say. */
  readonly repair: boolean;
  /** Stops everything at its next safe point. */
  readonly signal: AbortSignal;
}

/** How long a new file, or one that is gone, may be unseen. */
const listEvery = 5_000;

/** Observations after which Terraform plans again, though the machines are as they were at its last plan. */
const planEvery = 10;

interface LastPlan {
  /** What the machines needed then. */
  readonly key: string;
  /** How many observations since. */
  observations: number;
  /** Why nothing was done about it. */
  readonly reason: string | undefined;
}

const planKey = ({ steps }: ClusterObservation) => JSON.stringify(steps.map(({ sentence }) => sentence));

function refusedBy(outcome: RepairOutcome, { steps, manager }: ClusterObservation): string | undefined {
  if (outcome.kind === "refused") return outcome.reason;
  return outcome.kind === "unchanged" && steps.length > 0 ? `${manager} plans no change` : undefined;
}

/** Watches, repairs and backs up all environments. Returns when the signal has fired and each has come to a safe point. */
export async function operateAll(options: OperateOptions): Promise<void> {
  const { project, record, log, timing, signal } = options;
  let reported = "";
  await watchAll({
    names: () => {
      const names = project.environmentNames();
      reported = "";
      return names;
    },
    timing,
    listEvery,
    signal,
    watch: (name, until) => new EnvironmentOperator(name, options, until).run(),
    added: (name) => {
      record.note(name, {});
      log({ level: "info", event: "environment", environment: name, message: "is watched" });
    },
    removed: (name) => {
      record.forget(name);
      const message = "its file is gone: not watched any more";
      log({ level: "info", event: "environment", environment: name, message });
    },
    failed: ({ message }, environment) => {
      if (environment !== undefined) return log({ level: "error", event: "fault", environment, message });
      const text = `the environments cannot be listed: ${message}`;
      if (text !== reported) log({ level: "error", event: "fault", message: text });
      reported = text;
    },
  });
}

/** Everything that is done for one environment: it is watched, repaired and backed up until the signal fires. */
class EnvironmentOperator implements WatchListener {
  readonly #name: string;
  readonly #options: OperateOptions;
  readonly #signal: AbortSignal;
  readonly #watcher: ClusterWatcher;
  #repairFailures = 0;
  /** By the clock that nobody sets. */
  #retryAt: number | undefined;
  #told = "";
  /** What Terraform planned last, where it manages the cluster. */
  #plan: LastPlan | undefined;

  constructor(name: string, options: OperateOptions, signal: AbortSignal) {
    const { project, timing } = options;
    this.#name = name;
    this.#options = options;
    this.#signal = signal;
    this.#watcher = new ClusterWatcher(name, {
      project: {
        ...project,
        observe: (environment) => this.#timed("look", () => project.observe(environment, signal)),
      },
      timing,
      listener: this,
      pause: (environment, failures) => this.#pause(environment, failures),
    });
  }

  async run(): Promise<void> {
    await Promise.all([this.#watcher.run(this.#signal), this.#backUp()]);
  }

  #pause(environment: Environment | undefined, failures: number): number {
    if (environment === undefined) return retryDelay(failures);
    const { interval } = environment.operate;
    if (failures > 0) return Math.max(interval, retryDelay(failures));
    return withJitter(interval, Buffer.from(this.#options.entropy(4)).readUInt32BE(0) / 2 ** 32);
  }

  fileChanged(): void {
    this.#retryAt = undefined;
    this.#repairFailures = 0;
    this.#plan = undefined;
    this.#tell("info", "environment", "its file has changed");
  }

  async failed(error: TalosError, environment: Environment | undefined): Promise<void> {
    this.#options.record.note(this.#name, { tried: true });
    if (environment !== undefined) this.#noteFile(environment);
    this.#fault(error);
  }

  async observed(observed: Observed): Promise<void> {
    this.#noteFile(observed.environment);
    this.#remember(observed);
    await this.#actOn(observed);
  }

  #noteFile(environment: Environment): void {
    this.#options.record.note(this.#name, { environment });
  }

  #isAllowed({ operate }: Environment): boolean {
    return this.#options.repair || operate.repair;
  }

  #remember(observed: Observed): void {
    const repairAllowed = this.#isAllowed(observed.environment) && observed.observation.obstacle === undefined;
    this.#options.record.note(this.#name, { tried: true, observed, repairAllowed });
    for (const transition of observed.transitions)
      if (transition.from !== undefined || !isGood(transition.condition)) this.#tellCondition(transition);
  }

  async #actOn({ observation, environment }: Observed): Promise<void> {
    const { timing } = this.#options;
    const rest = this.#retryAt === undefined ? 0 : this.#retryAt - timing.elapsed();
    const allowed = this.#isAllowed(environment);
    const planDue = this.#isPlanDue(observation);
    const verdict = verdictOn(observation, { allowed, now: timing.now(), rest, planDue });
    if (verdict.kind === "later") return;
    if (verdict.kind === "plan" || (verdict.kind === "repair" && (planDue || observation.manager === undefined)))
      return this.#repair(environment, observation);
    // What Terraform's last plan was refused for still holds.
    const reason = verdict.kind === "report" ? verdict.reason : this.#plan?.reason;
    this.#report(reason, observation);
  }

  #report(reason: string | undefined, { steps }: ClusterObservation): void {
    this.#clearFault();
    const todo = reason === undefined ? [] : steps.map(({ sentence }) => sentence);
    this.#tellOnce(JSON.stringify([reason, todo]), () => {
      if (reason === undefined) return;
      for (const sentence of todo) this.#tell("warning", "drift", `to do: ${sentence}`);
      this.#tell("warning", "drift", `not repaired: ${reason}`);
    });
  }

  /** A plan of Terraform takes seconds and asks every machine: it is made when something is new, or after a while. */
  #isPlanDue(observation: ClusterObservation): boolean {
    if (observation.manager === undefined) return false;
    if (this.#plan === undefined || this.#plan.key !== planKey(observation)) return true;
    this.#plan.observations += 1;
    return this.#plan.observations >= planEvery;
  }

  async #repair(environment: Environment, observation: ClusterObservation): Promise<void> {
    const { project, timing } = this.#options;
    const begun = () => {
      this.#told = "";
      this.#tell("info", "repair", "brings the machines back to what the file says");
    };
    try {
      const listener = {
        review: (steps: readonly Step[]) => refuseGrave(steps, this.#name),
        begun,
        events: this.#step,
      };
      const outcome = await this.#timed("repair", () => project.repair(environment, listener, this.#signal));
      this.#repairFailures = 0;
      this.#retryAt = undefined;
      this.#clearFault();
      if (outcome.kind === "repaired") this.#tell("info", "repair", "the machines are what the file says");
      const now = outcome.kind === "repaired" ? await this.#observeAgain(environment) : observation;
      const reason = refusedBy(outcome, observation);
      this.#plan = { key: planKey(now), observations: 0, reason };
      if (outcome.kind !== "repaired") this.#report(reason, observation);
    } catch (error) {
      if (this.#signal.aborted) {
        this.#tell("info", "repair", "stopped at a safe point; the next one goes on from there");
        return;
      }
      // Somebody else is at it: their work is as good as ours.
      if (TalosError.from(error).code === "conflict") {
        this.#tell("info", "repair", TalosError.from(error).message);
        return;
      }
      this.#fault(error);
      this.#repairFailures += 1;
      const rest = retryDelay(this.#repairFailures);
      this.#retryAt = timing.elapsed() + rest;
      this.#tell("info", "repair", `again after ${new Date(timing.now() + rest).toISOString()}`);
    }
  }

  async #observeAgain(environment: Environment): Promise<ClusterObservation> {
    const observed = await this.#watcher.observe(environment, this.#signal);
    this.#remember(observed);
    return observed.observation;
  }

  async #backUp(): Promise<void> {
    const { project, record, timing, entropy } = this.#options;
    await runSchedule({
      // While the file has errors, its last content without any counts.
      schedule: () => {
        const environment = this.#watcher.read().environment ?? record.entries.get(this.#name)?.environment;
        return environment === undefined ? undefined : scheduleOf(environment);
      },
      run: async () => {
        const environment = project.load(this.#name);
        const again = (reason: string) => this.#tell("warning", "backup", `again after: ${reason}`);
        const { id, bytes, removed } = await this.#timed("backup", () =>
          project.backup(environment, again, this.#signal),
        );
        this.#tell("info", "backup", `backup ${id}: ${bytes} bytes`);
        for (const old of removed) this.#tell("info", "backup", `backup ${old}: removed`);
      },
      onFailure: ({ text }) => this.#tell("error", "backup", text),
      onNext: (at) => {
        if (at === undefined) return record.clear(this.#name, "nextBackup");
        record.note(this.#name, { nextBackup: at.getTime() });
        this.#tell("info", "backup", `the next backup at ${at.toISOString()}`);
      },
      clock: { now: () => new Date(timing.now()) },
      entropy,
      timing,
      signal: this.#signal,
    });
  }

  async #timed<T>(operation: Operation, work: () => Promise<T>): Promise<T> {
    const { record, timing } = this.#options;
    const begun = timing.elapsed();
    const end = (outcome: "success" | "failure" | "canceled") =>
      record.time(this.#name, operation, outcome, timing.elapsed() - begun);
    try {
      const result = await work();
      end("success");
      return result;
    } catch (error) {
      end(this.#signal.aborted ? "canceled" : "failure");
      throw error;
    }
  }

  /** A fault that lasts is told once. */
  #fault(error: unknown): void {
    const { message, text } = TalosError.from(error);
    this.#options.record.note(this.#name, { fault: message });
    this.#tellOnce(message, () => this.#tell("error", "fault", text));
  }

  #clearFault(): void {
    this.#options.record.clear(this.#name, "fault");
  }

  readonly #step = ({ type, message, machine }: ToldEvent): void => {
    if (type !== "step-finished" && type !== "step-failed" && type !== "warning") return;
    const level = type === "step-finished" ? "info" : type === "warning" ? "warning" : "error";
    this.#options.log({ level, event: "step", environment: this.#name, ...given({ machine }), message });
  };

  #tellCondition({ condition, machine }: Transition): void {
    const level = isGood(condition) ? "info" : "warning";
    const entry = { environment: this.#name, ...given({ machine }), message: conditionText(condition) };
    this.#options.log({ level, event: "condition", ...entry });
  }

  #tellOnce(text: string, tell: () => void): void {
    if (this.#told === text) return;
    this.#told = text;
    tell();
  }

  #tell(level: LogEntry["level"], event: LogEntry["event"], message: string): void {
    this.#options.log({ level, event, environment: this.#name, message });
  }
}

/** The engine plans anew in every round: what turns up later is held to the same rule. */
function refuseGrave(steps: readonly Step[], name: string): void {
  const grave = steps.filter(needsPerson);
  if (grave.length === 0) return;
  const sentences = grave.map(({ sentence }) => sentence).join("; ");
  throw new TalosError("failed-precondition", `a person has to decide: ${sentences}`, {
    hint: `Look at it with: talosmith plan ${name}; do it with: talosmith deploy ${name}`,
  });
}
