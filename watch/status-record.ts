// SPDX-License-Identifier: Apache-2.0
import type { Environment } from "../model/index.ts";
import type { Observed } from "./watcher.ts";

export type Operation = "look" | "repair" | "backup";
export type Outcome = "success" | "failure" | "canceled";

/** What is known of one environment. */
export interface Entry {
  readonly environment?: Environment;
  readonly repairAllowed?: boolean;
  /** The last one that succeeded. */
  readonly observed?: Observed;
  /** A first observation has ended, with success or not. */
  readonly tried?: boolean;
  /** Why the last observation or repair failed. */
  readonly fault?: string;
  readonly nextBackup?: number;
}

export interface Timed {
  readonly environment: string;
  readonly operation: Operation;
  readonly outcome: Outcome;
  readonly count: number;
  readonly seconds: number;
  /** How many took no longer than each of `durationBuckets`. */
  readonly buckets: readonly number[];
}

/** Upper ends in seconds: from a quick look to a rollout over many machines. */
export const durationBuckets = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 14_400] as const;

/** What the operator knows now; the metrics, readiness and log are told from it. */
export class StatusRecord {
  readonly #entries = new Map<string, Entry>();
  readonly #timed = new Map<string, Timed>();
  leading = false;

  get entries(): ReadonlyMap<string, Entry> {
    return this.#entries;
  }

  get timed(): readonly Timed[] {
    return [...this.#timed.values()];
  }

  note(name: string, change: Partial<Entry>): void {
    this.#entries.set(name, { ...this.#entries.get(name), ...change });
  }

  /** Takes out what stood under this name, such as a fault that has passed. */
  clear(name: string, field: keyof Entry): void {
    const { [field]: _, ...rest } = this.#entries.get(name) ?? {};
    this.#entries.set(name, rest);
  }

  forget(name: string): void {
    this.#entries.delete(name);
    for (const [key, { environment }] of this.#timed) if (environment === name) this.#timed.delete(key);
  }

  time(environment: string, operation: Operation, outcome: Outcome, milliseconds: number): void {
    const key = `${environment} ${operation} ${outcome}`;
    const before = this.#timed.get(key);
    const seconds = milliseconds / 1000;
    this.#timed.set(key, {
      environment,
      operation,
      outcome,
      count: (before?.count ?? 0) + 1,
      seconds: (before?.seconds ?? 0) + seconds,
      buckets: durationBuckets.map((end, i) => (before?.buckets[i] ?? 0) + (seconds <= end ? 1 : 0)),
    });
  }

  /** Undefined when it is ready, else what it waits for. A standby is ready to take over at any time. */
  unready(): string | undefined {
    if (!this.leading) return undefined;
    const untried = [...this.#entries].flatMap(([name, { tried }]) => (tried ? [] : [name]));
    return untried.length === 0 ? undefined : `not checked yet: ${untried.join(", ")}`;
  }
}
