// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../../talos/errors.ts";
import { given } from "../../talos/given.ts";
import { progressWords } from "./progress-words.ts";
import { type Sleeper, sleeperBy, type Timing, throwIfCanceled } from "./timing.ts";

export interface WaitOptions {
  readonly timing: Timing;
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds. */
  readonly timeout: number;
  /** What the whole wait is about, for the error. */
  readonly what: string;
  readonly machine?: string;
  /** Milliseconds between two looks at most. @default 1000 */
  readonly longestPause?: number;
  /** Told when the reason changes and at least every five seconds, with the milliseconds since the wait began. */
  readonly onWaiting?: (reason: string, waited: number) => void;
  /** More about what takes long, added to the reason: asked with each sign of life after the first five seconds, and for the error. */
  readonly explain?: () => Promise<string | undefined>;
  /** Who has been asked and has not answered, for a look that takes long. */
  readonly silence?: () => string | undefined;
}

const firstPause = 50;
const heartbeat = 5000;
/** What even a look that begins at the very end gets. */
const shortestLook = 1000;

/**
 * Asks again and again, often at first, until the check has nothing against it. Passing errors count as reasons to
 * wait; others end the wait. After the timeout the error names the last reason; a look that has no answer by then is
 * left alone.
 */
export async function waitUntil(check: () => Promise<string | undefined>, options: WaitOptions): Promise<void> {
  const { timing, signal } = options;
  const sleeper = sleeperBy((milliseconds, ring) => timing.alarm(milliseconds, ring), signal);
  try {
    await waitWith(sleeper, check, options);
  } finally {
    sleeper.close();
  }
}

async function waitWith(
  sleeper: Sleeper,
  check: () => Promise<string | undefined>,
  options: WaitOptions,
): Promise<void> {
  const { timing, signal, timeout, what, machine, onWaiting, explain, silence, longestPause = 1000 } = options;
  const begun = timing.elapsed();
  const deadline = begun + timeout;
  let pause = firstPause;
  let told: { reason: string; at: number } | undefined;
  const isDue = (reason: string) =>
    told === undefined || told.reason !== reason || timing.elapsed() - told.at >= heartbeat;
  const tell = (reason: string, whole = reason) => {
    if (!isDue(reason)) return;
    onWaiting?.(whole, timing.elapsed() - begun);
    told = { reason, at: timing.elapsed() };
  };
  for (;;) {
    throwIfCanceled(signal);
    const look = ask(check);
    const end = Math.max(deadline, timing.elapsed() + shortestLook);
    let reason = await within(look, Math.min(heartbeat, end - timing.elapsed()), timing);
    while (reason === late) {
      const waitedFor = told?.reason ?? silence?.() ?? "no answer yet";
      tell(waitedFor);
      if (timing.elapsed() < end) reason = await within(look, Math.min(heartbeat, end - timing.elapsed()), timing);
      else reason = waitedFor;
    }
    if (reason === undefined) return;
    const now = timing.elapsed();
    // A wait that has only begun needs no explanation.
    const more = now >= deadline || (now - begun >= heartbeat && isDue(reason)) ? await explain?.() : undefined;
    const whole = more === undefined || reason.includes(more) ? reason : `${reason}; ${more}`;
    tell(reason, whole);
    if (now >= deadline) {
      throw new TalosError("deadline-exceeded", `${what}: not done after ${describeDuration(timeout)}: ${whole}`, {
        ...given({ node: machine }),
        hint: "Mend the cause and run the same command again: it goes on from where the cluster is.",
      });
    }
    await sleeper.sleep(Math.min(pause, Math.max(1, deadline - timing.elapsed())));
    pause = Math.min(pause * 1.3, longestPause);
  }
}

const late = Symbol("late");

/** The work's answer, or `late` when it takes longer; the work goes on. */
async function within<T>(work: Promise<T>, milliseconds: number, timing: Timing): Promise<T | typeof late> {
  let stop = () => {};
  const alarm = new Promise<typeof late>((resolve) => {
    stop = timing.alarm(milliseconds, () => resolve(late));
  });
  try {
    return await Promise.race([work, alarm]);
  } finally {
    stop();
  }
}

async function ask(check: () => Promise<string | undefined>): Promise<string | undefined> {
  try {
    return await check();
  } catch (error) {
    const ours = TalosError.from(error);
    if (ours.retryable) return ours.message;
    throw ours;
  }
}

/**
 * Does something to a machine that may not be ready for it: then the answer is the reason to try again later, such as
 * `time is not in sync yet`. Undefined when it is done.
 */
export async function attempt(action: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await action();
    return undefined;
  } catch (error) {
    const ours = TalosError.from(error);
    if (ours.retryable || ours.code === "failed-precondition" || ours.code === "conflict") return ours.message;
    // Right after a boot a machine does not know yet that it is a control plane.
    if (ours.code === "unimplemented" && ours.message.includes("machine type is not set")) return ours.message;
    throw ours;
  }
}

/** What is waited for, for people, and for how long once that is worth a word: `etcd is starting (12 s)`. */
export function withElapsed(reason: string, waited: number): string {
  const words = progressWords(reason, waited);
  return waited < heartbeat ? words : `${words} (${describeDuration(waited)})`;
}

export function describeDuration(milliseconds: number): string {
  if (milliseconds < 1000) return `${milliseconds} ms`;
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 120) return `${seconds} s`;
  return `${Math.round(seconds / 60)} min`;
}
