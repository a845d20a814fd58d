// SPDX-License-Identifier: Apache-2.0
import type { Lease, LeaseRecord, Timing } from "../engine/index.ts";
import { TalosError } from "../talos/errors.ts";
import type { Log } from "./log.ts";

/** Milliseconds. The defaults are those of Kubernetes' own components. */
interface LeaseTimes {
  /** How long a silent leader is waited for. */
  readonly duration: number;
  /** A leader that could not renew for so long stops by itself, well before others take over. */
  readonly renewDeadline: number;
  /** Between two attempts. */
  readonly retry: number;
}

const leaseTimes: LeaseTimes = { duration: 15_000, renewDeadline: 10_000, retry: 2_000 };

export interface LeaderOptions {
  readonly lease: Lease;
  /** Another one for each process, also after a restart. */
  readonly identity: string;
  readonly timing: Timing;
  readonly log: Log;
  readonly onChange: (leading: boolean) => void;
  readonly signal: AbortSignal;
  readonly times?: LeaseTimes;
}

/** A record and when we first saw it, by our own clock: clocks of other machines may be wrong. */
export interface Sighting {
  readonly record: LeaseRecord;
  readonly at: number;
}

/** Pure: keeps the time of a record for as long as nobody writes. */
export function sight(before: Sighting | undefined, record: LeaseRecord, now: number): Sighting {
  return before?.record.version === record.version ? before : { record, at: now };
}

/** Pure: whether the lease is ours to take. */
export function mayTake({ record, at }: Sighting, identity: string, now: number, duration: number): boolean {
  return record.holder === "" || record.holder === identity || now - at >= duration;
}

/** Does the work while this process leads, again and again, until the signal fires. Then the lease is given back. */
export async function whileLeading(
  work: (signal: AbortSignal) => Promise<void>,
  options: LeaderOptions,
): Promise<void> {
  const { timing, signal, log, times = leaseTimes } = options;
  const candidate = new Candidate(options, times);
  let follows = "";
  while (!signal.aborted) {
    try {
      const other = await candidate.take(signal);
      if (other === undefined) {
        follows = "";
        await lead(work, candidate, options, times);
        continue;
      }
      if (other !== follows) log({ level: "info", event: "following", message: `stands by: ${other} leads` });
      follows = other;
    } catch (error) {
      if (signal.aborted) return;
      const { message } = TalosError.from(error);
      if (message !== follows) log({ level: "warning", event: "following", message: `the lease: ${message}` });
      follows = message;
    }
    await timing.sleep(times.retry, signal).catch(() => undefined);
  }
}

async function lead(
  work: (signal: AbortSignal) => Promise<void>,
  candidate: Candidate,
  { signal, log, onChange, timing }: LeaderOptions,
  times: LeaseTimes,
): Promise<void> {
  const stop = new AbortController();
  const follow = () => stop.abort();
  signal.addEventListener("abort", follow, { once: true });
  if (signal.aborted) stop.abort();
  onChange(true);
  log({ level: "info", event: "leading", message: "leads" });
  // Renewing goes on while the work comes to its safe point: until then nobody else may begin.
  const renewing = new AbortController();
  const renewed = candidate.renew(renewing.signal, times, timing).then((reason) => {
    if (reason === undefined) return;
    log({ level: "error", event: "following", message: `leads no longer: ${reason}` });
    stop.abort();
  });
  try {
    await work(stop.signal);
  } finally {
    signal.removeEventListener("abort", follow);
    renewing.abort();
    await renewed;
    onChange(false);
    await candidate.release();
  }
}

/** A renewal that nobody waited for any more may still have landed: then the lease has another version. */
function unlessRenewed(error: unknown): void {
  if (TalosError.from(error).code !== "conflict") throw error;
}

class Candidate {
  readonly #options: LeaderOptions;
  readonly #times: LeaseTimes;
  #seen: Sighting | undefined;

  constructor(options: LeaderOptions, times: LeaseTimes) {
    this.#options = options;
    this.#times = times;
  }

  /** Takes or renews the lease. Undefined when it is ours, else who has it. */
  async take(signal: AbortSignal): Promise<string | undefined> {
    const { lease, identity, timing } = this.#options;
    const record = await lease.read(signal);
    if (record !== undefined) {
      this.#seen = sight(this.#seen, record, timing.elapsed());
      if (!mayTake(this.#seen, identity, timing.elapsed(), this.#times.duration)) return record.holder;
    }
    try {
      await lease.write(this.#term(identity), record, signal);
      return undefined;
    } catch (error) {
      if (TalosError.from(error).code === "conflict") return "somebody who was faster";
      throw error;
    }
  }

  /** Renews until the signal fires (undefined), or until the lease is lost: then it tells why. */
  async renew(signal: AbortSignal, { retry, renewDeadline }: LeaseTimes, timing: Timing): Promise<string | undefined> {
    let last = timing.elapsed();
    while (!signal.aborted) {
      try {
        await timing.sleep(retry, signal);
        // Others may count from when we asked, however late we hear that it was granted.
        const asked = timing.elapsed();
        const other = await this.#takeWithin(last + renewDeadline - asked, signal);
        if (other !== undefined) return `${other} has taken the lease`;
        last = asked;
      } catch (error) {
        if (signal.aborted) return undefined;
        if (timing.elapsed() - last >= renewDeadline)
          return `the lease could not be renewed: ${TalosError.from(error).message}`;
      }
    }
    return undefined;
  }

  /** Does not wait for an answer beyond the time in which it would still help. */
  async #takeWithin(milliseconds: number, signal: AbortSignal): Promise<string | undefined> {
    const over = new AbortController();
    const within = AbortSignal.any([signal, over.signal]);
    const alarm = this.#options.timing.sleep(milliseconds, within).then(() => {
      throw new TalosError("deadline-exceeded", "no answer in time");
    });
    try {
      return await Promise.race([this.take(within), alarm]);
    } finally {
      over.abort();
    }
  }

  /** So that another need not wait; who cannot even be asked will find out by waiting. */
  async release(): Promise<void> {
    const { lease, identity, log } = this.#options;
    const quick = AbortSignal.timeout(5_000);
    try {
      for (let record = await lease.read(quick); record?.holder === identity; record = await lease.read(quick))
        await lease.write(this.#term(""), record, quick).catch(unlessRenewed);
    } catch (error) {
      log({
        level: "warning",
        event: "following",
        message: `the lease was not given back: ${TalosError.from(error).message}`,
      });
    }
  }

  #term(holder: string) {
    return { holder, seconds: Math.ceil(this.#times.duration / 1000), now: new Date(this.#options.timing.now()) };
  }
}
