// SPDX-License-Identifier: Apache-2.0

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const week = 7 * day;
const month = 30 * day;
const year = 12 * month;

/** Below which distance which words are used, and the unit that is counted in them; talosctl's own steps. */
const steps: readonly (readonly [below: number, words: (count: number) => string, unit: number])[] = [
  [second, () => "now", 1],
  [2 * second, () => "1 second", 1],
  [minute, (count) => `${count} seconds`, second],
  [2 * minute, () => "1 minute", 1],
  [hour, (count) => `${count} minutes`, minute],
  [2 * hour, () => "1 hour", 1],
  [day, (count) => `${count} hours`, hour],
  [2 * day, () => "1 day", 1],
  [week, (count) => `${count} days`, day],
  [2 * week, () => "1 week", 1],
  [month, (count) => `${count} weeks`, week],
  [2 * month, () => "1 month", 1],
  [year, (count) => `${count} months`, month],
  [18 * month, () => "1 year", 1],
  [2 * year, () => "2 years", 1],
  [37 * year, (count) => `${count} years`, year],
  [Number.POSITIVE_INFINITY, () => "a long while", 1],
];

/** How far away a moment is, in words: `1 year from now`, `3 days ago`. */
export function relativeTime(moment: Date, now: Date): string {
  const distance = moment.getTime() - now.getTime();
  const length = Math.abs(distance);
  for (const [below, words, unit] of steps) {
    if (length >= below) continue;
    const text = words(Math.floor(length / unit));
    return text === "now" ? text : `${text} ${distance > 0 ? "from now" : "ago"}`;
  }
  return "";
}
