// SPDX-License-Identifier: Apache-2.0
import { runSchedule } from "../engine/backup/index.ts";
import type { ClusterEvent, Step, Timing } from "../engine/index.ts";
import type { Environment } from "../model/index.ts";
import type { Entropy } from "../talos/clock.ts";
import { TalosError } from "../talos/errors.ts";
import type { ClusterLook } from "./cluster-observation.ts";
import { type Condition, transitionsBetween, withTransitions } from "./condition.ts";
import { needsPerson, retryDelay, verdictOn, withJitter } from "./decide.ts";
import { findingsOf } from "./findings.ts";
import type { Log } from "./log.ts";
import { scheduleOf, type WatchedProject } from "./project.ts";
import type { Operation, StatusRecord } from "./status-record.ts";

export interface WorkerOptions {
  readonly project: WatchedProject;
  readonly record: StatusRecord;
  readonly log: Log;
  readonly timing: Timing;
  readonly entropy: Entropy;
  /** Repair whatever the files say. */
  readonly repair: boolean;
}

/** How long a changed file may go unseen. */
const readEvery = 5_000;

/** Everything that is done for one environment: looks, repairs and backups, until the signal fires. */
export class Worker {
  readonly #name: string;
  readonly #options: WorkerOptions;
  readonly #signal: AbortSignal;
  #repairFailures = 0;
  /** By the clock that nobody sets. */
  #retryAt: number | undefined;
  #lookFailures = 0;
  #told = "";

  constructor(name: string, options: WorkerOptions, signal: AbortSignal) {
    this.#name = name;
    this.#options = options;
    this.#signal = signal;
  }

  async run(): Promise<void> {
    const conditions = await this.#options.project.readConditions(this.#name);
    if (conditions !== undefined) this.#options.record.note(this.#name, { conditions });
    await Promise.all([this.#watch(), this.#backUp()]);
  }

  async #watch(): Promise<void> {
    const { record, timing } = this.#options;
    let known: unknown;
    while (!this.#signal.aborted) {
      const { environment, mark } = this.#read();
      if (known !== undefined && known !== mark) {
        // Another file is another wish: what failed before says nothing of it.
        this.#retryAt = undefined;
        this.#repairFailures = 0;
        this.#lookFailures = 0;
        this.#tell("info", "environment", "its file has changed");
      }
      known = mark;
      if (environment === undefined) record.note(this.#name, { tried: true });
      const pause = environment === undefined ? retryDelay(++this.#lookFailures) : await this.#turn(environment);
      await this.#waitOrChange(timing.elapsed() + pause, mark);
    }
  }

  /** One look and what follows from it; returns how long to wait for the next. */
  async #turn(environment: Environment): Promise<number> {
    const allowed = this.#options.repair || environment.operate.repair;
    this.#options.record.note(this.#name, { environment, repairAllowed: allowed });
    try {
      const look = await this.#look(environment);
      this.#lookFailures = 0;
      await this.#remember(look);
      await this.#actOn(look, environment, allowed);
      const share = Buffer.from(this.#options.entropy(4)).readUInt32BE(0) / 2 ** 32;
      return withJitter(environment.operate.interval, share);
    } catch (error) {
      if (this.#signal.aborted) return 0;
      this.#fault(error);
      this.#lookFailures += 1;
      return Math.max(environment.operate.interval, retryDelay(this.#lookFailures));
    }
  }

  async #look(environment: Environment): Promise<ClusterLook> {
    const { project, record } = this.#options;
    try {
      return await this.#timed("look", () => project.look(environment, this.#signal));
    } finally {
      record.note(this.#name, { tried: true });
    }
  }

  async #remember(look: ClusterLook): Promise<void> {
    const { record, project, timing } = this.#options;
    const now = new Date(timing.now());
    const before = record.entries.get(this.#name)?.conditions;
    const conditions = withTransitions(findingsOf(look, now), before, now);
    record.note(this.#name, { look, lookedAt: now.getTime(), conditions });
    const changed = transitionsBetween(before, conditions);
    for (const { machine, condition, from } of changed)
      if (from !== undefined || isBad(condition)) this.#tellCondition(condition, machine);
    if (changed.length > 0) await project.writeConditions(this.#name, conditions);
  }

  async #actOn(look: ClusterLook, environment: Environment, allowed: boolean): Promise<void> {
    const { timing } = this.#options;
    const rest = this.#retryAt === undefined ? 0 : this.#retryAt - timing.elapsed();
    const verdict = verdictOn(look, { allowed, now: timing.now(), rest });
    if (verdict.kind === "later") return;
    if (verdict.kind === "repair") return this.#repair(environment);
    this.#clearFault();
    const todo = verdict.kind === "report" ? look.steps.map(({ sentence }) => sentence) : [];
    const reason = verdict.kind === "report" ? verdict.reason : "";
    this.#tellOnce(JSON.stringify([reason, todo]), () => {
      if (reason === "") return;
      for (const sentence of todo) this.#tell("warning", "drift", `to do: ${sentence}`);
      this.#tell("warning", "drift", `not repaired: ${reason}`);
    });
  }

  async #repair(environment: Environment): Promise<void> {
    const { project, timing } = this.#options;
    this.#told = "";
    this.#tell("info", "repair", "brings the machines back to what the file says");
    try {
      await this.#timed("repair", () => project.repair(environment, refuseGrave, this.#step, this.#signal));
      this.#repairFailures = 0;
      this.#retryAt = undefined;
      this.#clearFault();
      this.#tell("info", "repair", "the machines are what the file says");
      await this.#remember(await this.#look(environment));
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

  async #backUp(): Promise<void> {
    const { project, record, timing, entropy } = this.#options;
    await runSchedule({
      // While the file has faults, what was last known to be wished counts.
      schedule: () => {
        const environment = this.#read().environment ?? record.entries.get(this.#name)?.environment;
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
      onFailure: ({ message, hint }) => this.#tell("error", "backup", [message, hint].filter(Boolean).join(" ")),
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

  /** The file as it is now: what it says, and something that is another one when the file is. */
  #read(): { readonly environment?: Environment; readonly mark: unknown } {
    try {
      const environment = this.#options.project.load(this.#name);
      return { environment, mark: environment };
    } catch (error) {
      this.#fault(error);
      return { mark: TalosError.from(error).message };
    }
  }

  async #waitOrChange(until: number, mark: unknown): Promise<void> {
    const { timing } = this.#options;
    while (!this.#signal.aborted && timing.elapsed() < until) {
      try {
        await timing.sleep(Math.min(readEvery, until - timing.elapsed()), this.#signal);
      } catch (error) {
        if (this.#signal.aborted) return;
        throw error;
      }
      if (this.#read().mark !== mark) return;
    }
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
    const { message, hint } = TalosError.from(error);
    this.#options.record.note(this.#name, { fault: message });
    this.#tellOnce(message, () => this.#tell("error", "fault", [message, hint].filter(Boolean).join(" ")));
  }

  #clearFault(): void {
    this.#options.record.clear(this.#name, "fault");
  }

  readonly #step = ({ type, message, machine }: ClusterEvent): void => {
    if (type !== "step-finished" && type !== "step-failed" && type !== "warning") return;
    const level = type === "step-finished" ? "info" : type === "warning" ? "warning" : "error";
    const about = machine === undefined ? {} : { machine };
    this.#options.log({ level, event: "step", environment: this.#name, ...about, message });
  };

  #tellCondition({ type, status, reason, message, ...condition }: Condition, machine?: string): void {
    const level = isBad({ type, status, reason, message, ...condition }) ? "warning" : "info";
    const about = machine === undefined ? {} : { machine };
    const text = `${type} is ${status}: ${reason}: ${message}`;
    this.#options.log({ level, event: "condition", environment: this.#name, ...about, message: text });
  }

  #tellOnce(text: string, tell: () => void): void {
    if (this.#told === text) return;
    this.#told = text;
    tell();
  }

  #tell(
    level: "info" | "warning" | "error",
    event: "environment" | "drift" | "repair" | "backup" | "fault",
    message: string,
  ): void {
    this.#options.log({ level, event, environment: this.#name, message });
  }
}

/** To have drifted is bad; everything else is good when it is true. */
function isBad({ type, status }: Condition): boolean {
  return status !== (type === "Drifted" ? "False" : "True");
}

/** The engine plans anew in every round: what turns up later is held to the same rule. */
function refuseGrave(steps: readonly Step[]): void {
  const grave = steps.filter(needsPerson);
  if (grave.length === 0) return;
  throw new TalosError(
    "failed-precondition",
    `a person has to decide: ${grave.map(({ sentence }) => sentence).join("; ")}`,
    {
      hint: "Look at it with: talosmith plan; do it with: talosmith up",
    },
  );
}
