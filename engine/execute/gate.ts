// SPDX-License-Identifier: Apache-2.0

import { nextRun } from "../../model/cron.ts";
import { TalosError } from "../../talos/errors.ts";
import type { Gate, Window } from "../policy.ts";
import type { Step, StepOf } from "../step.ts";
import { gateName } from "./gate-check.ts";
import type { StepContext } from "./step-context.ts";

/** A gate that stays shut is asked again so seldom that nobody minds, and as often as a sign of life is due. */
const longestPause = 5_000;

/** Passes when a window is open and every gate lets us through, one after another. */
export async function gate(step: StepOf<"gate">, context: StepContext): Promise<void> {
  refuseClosed(step, context);
  const { gates } = context.policy;
  for (const check of gates) await passThrough(check, step, context);
  // A gate may have been waited for until after the window's end.
  if (gates.length > 0) refuseClosed(step, context);
}

function refuseClosed({ machine }: Step, { policy, timing }: StepContext): void {
  if (policy.windows.length === 0) return;
  const state = windowAt(policy.windows, new Date(timing.now()));
  if (state.open) return;
  const next =
    state.opens === undefined ? "none of them opens again" : `the next one opens at ${state.opens.toISOString()}`;
  throw new TalosError(
    "failed-precondition",
    `outside of the maintenance windows nothing is begun on ${machine}: ${next}`,
    {
      node: machine,
      hint: "Run the same command again then. What had begun was finished. If it cannot wait, change rollout.windows.",
    },
  );
}

async function passThrough(check: Gate, step: Step, context: StepContext): Promise<void> {
  const { machine } = step;
  const name = gateName(check);
  const subject = { cluster: context.desired.name, machine };
  const ask = async () => {
    const reason = await context.checkGate(check, subject, context.signal);
    return reason === undefined ? undefined : `${name}: ${reason}`;
  };
  await context.until(step, ask, { timeout: check.timeout, longestPause, what: `gate before ${machine}` });
}

/** After the canaries: time to watch them, and then perhaps the end of this run. */
export async function pause(step: StepOf<"pause">, context: StepContext): Promise<void> {
  // Whoever starts the same change again after it stopped here has looked at them.
  if (await context.wasAccepted(step)) return;
  const end = context.timing.elapsed() + step.soak;
  await context.until(
    step,
    async () => {
      const left = end - context.timing.elapsed();
      return left <= 0 ? undefined : `${step.canaries.join(", ")} ${step.canaries.length === 1 ? "is" : "are"} watched`;
    },
    { timeout: step.soak + longestPause, longestPause: Math.max(1000, Math.min(longestPause, step.soak)) },
  );
  await context.record(step, "accepted");
  if (step.afterwards === "continue") return;
  throw new TalosError("failed-precondition", `stopped after ${step.canaries.join(", ")}, as rollout.canary says`, {
    hint: "They have the change, the other machines do not. If they are well, run the same command again: it goes on from there.",
  });
}

export type WindowState =
  | { readonly open: true; readonly until: Date }
  /** `opens`: undefined when none ever will. */
  | { readonly open: false; readonly opens: Date | undefined };

/** More openings than this within one window say nothing new. */
const mostOverlaps = 1000;

/** Whether one of the windows is open at a moment, and until or from when. Each is open from its times on, so long. */
export function windowAt(windows: readonly Window[], now: Date): WindowState {
  const ends = windows.flatMap((window) => endOf(window, now) ?? []);
  const until = latest(ends);
  if (until !== undefined) return { open: true, until };
  const openings = windows.flatMap(({ schedule, timeZone }) => nextRun({ cron: schedule, timeZone }, now) ?? []);
  const opens = openings.reduce<Date | undefined>(
    (first, at) => (first === undefined || at < first ? at : first),
    undefined,
  );
  return { open: false, opens };
}

/** When a window that is open now closes: an opening that comes while it is open makes it longer. */
function endOf({ schedule, timeZone, duration }: Window, now: Date): Date | undefined {
  let end: Date | undefined;
  let opening = nextRun({ cron: schedule, timeZone }, new Date(now.getTime() - duration));
  for (let overlap = 0; opening !== undefined && opening <= (end ?? now) && overlap < mostOverlaps; overlap++) {
    end = new Date(opening.getTime() + duration);
    opening = nextRun({ cron: schedule, timeZone }, opening);
  }
  return end;
}

function latest(dates: readonly Date[]): Date | undefined {
  return dates.reduce<Date | undefined>((last, at) => (last === undefined || at > last ? at : last), undefined);
}
