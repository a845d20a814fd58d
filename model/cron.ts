// SPDX-License-Identifier: Apache-2.0
import { Cron } from "croner";

/** Times that come back: five fields as cron has them, by the clocks of a time zone. */
export interface CronTimes {
  readonly cron: string;
  /** Such as Europe/Berlin. @default UTC */
  readonly timeZone?: string;
}

/** The first time after this one; undefined when there is none, such as for the 30th of February. */
export function nextRun({ cron, timeZone = "UTC" }: CronTimes, after: Date): Date | undefined {
  return new Cron(cron, { timezone: timeZone, paused: true, mode: "5-part" }).nextRun(after) ?? undefined;
}

export function isCron(text: string): boolean {
  try {
    new Cron(text, { paused: true, mode: "5-part" });
    return true;
  } catch {
    return false;
  }
}

export function isTimeZone(text: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: text });
    return true;
  } catch {
    return false;
  }
}
