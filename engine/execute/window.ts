// SPDX-License-Identifier: Apache-2.0
import { nextRun } from "../../model/cron.ts";
import type { Window } from "../policy.ts";

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
