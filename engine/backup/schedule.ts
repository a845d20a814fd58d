// SPDX-License-Identifier: Apache-2.0
import { type CronTimes, nextRun } from "../../model/cron.ts";
import type { Clock, Entropy } from "../../talos/clock.ts";
import { TalosError } from "../../talos/errors.ts";
import type { Timing } from "../index.ts";

export interface Schedule extends CronTimes {
  /** Begin up to so many milliseconds late, so that many clusters do not all begin at once. @default 0 */
  readonly jitter?: number;
}

export interface ScheduleOptions {
  /** What the schedule is now; asked again all the time, so that a change is taken up without a restart. */
  readonly schedule: () => Schedule | undefined | Promise<Schedule | undefined>;
  /** One run. The next one waits for its end: times that pass meanwhile are left out. */
  readonly run: (signal: AbortSignal | undefined) => Promise<void>;
  /** A run that failed, or a schedule that cannot be read, ends nothing. */
  readonly onFailure: (error: TalosError) => void;
  /** Told when the next time is known or has changed. */
  readonly onNext?: (at: Date | undefined) => void;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly timing: Timing;
  /** Ends it: a run under way gets to hear of it too. */
  readonly signal: AbortSignal;
}

/** How long a changed schedule may go unseen. */
const lookEvery = 10_000;
/** A clock that is corrected by less, in milliseconds, was not set back. */
const correction = 60_000;

/** Runs the work at the times of a schedule until the signal fires. */
export async function runSchedule(options: ScheduleOptions): Promise<void> {
  const { clock, timing, signal, onFailure } = options;
  let known: { readonly schedule: string; readonly at: Date | undefined } | undefined;
  let after = clock.now();
  while (!signal.aborted) {
    try {
      const schedule = await options.schedule();
      const text = JSON.stringify(schedule ?? null);
      if (after.getTime() - clock.now().getTime() > correction) {
        // The next time was counted from one that has not come yet.
        after = clock.now();
        known = undefined;
      }
      if (known?.schedule !== text) {
        known = { schedule: text, at: schedule && withJitter(nextRun(schedule, after), schedule, options.entropy) };
        options.onNext?.(known.at);
      }
      const wait = known.at === undefined ? lookEvery : known.at.getTime() - clock.now().getTime();
      if (wait > 0) {
        await timing.sleep(Math.min(wait, lookEvery), signal);
        continue;
      }
      known = undefined;
      await options.run(signal);
      after = clock.now();
    } catch (error) {
      if (signal.aborted) return;
      onFailure(TalosError.from(error));
      after = clock.now();
      known = undefined;
      await timing.sleep(lookEvery, signal).catch(() => {});
    }
  }
}

function withJitter(at: Date | undefined, { jitter = 0 }: Schedule, entropy: Entropy): Date | undefined {
  if (at === undefined || jitter === 0) return at;
  const share = Buffer.from(entropy(4)).readUInt32BE(0) / 2 ** 32;
  return new Date(at.getTime() + Math.floor(share * jitter));
}
