// SPDX-License-Identifier: Apache-2.0
// Amounts as Go programs, talosctl among them, print them.

/** A duration in whole seconds: `1h2m3s`, `2m0s`, `0s`. */
export function goDuration(milliseconds: number): string {
  const total = Math.round(milliseconds / 1000);
  const [hours, minutes, seconds] = [Math.floor(total / 3600), Math.floor(total / 60) % 60, total % 60];
  if (hours > 0) return `${hours}h${minutes}m${seconds}s`;
  return minutes > 0 ? `${minutes}m${seconds}s` : `${seconds}s`;
}

const units = ["B", "kB", "MB", "GB", "TB", "PB"];

/** Bytes in steps of a thousand: `9 B`, `4.2 MB`, `20 kB`. */
export function goBytes(bytes: number): string {
  if (bytes < 10) return `${bytes} B`;
  const exponent = Math.min(Math.floor(Math.log10(bytes) / 3), units.length - 1);
  const value = Math.floor((bytes / 1000 ** exponent) * 10 + 0.5) / 10;
  return `${value < 10 ? value.toFixed(1) : halfToEven(value)} ${units[exponent]}`;
}

/** Go rounds a half to the even neighbour: 20.5 to 20. */
function halfToEven(value: number): number {
  const below = Math.floor(value);
  return value - below === 0.5 ? below + (below % 2) : Math.round(value);
}
