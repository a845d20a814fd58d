// SPDX-License-Identifier: Apache-2.0

const sizes = ["B", "KiB", "MiB", "GiB", "TiB"];

/** Bytes for a person: `20.5 MiB`. */
export function sizeOf(bytes: number): string {
  const step = Math.min(sizes.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  return `${step === 0 ? bytes : (bytes / 1024 ** step).toFixed(1)} ${sizes[step]}`;
}

/** `1 worker`, `2 workers`. */
export function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}

/** Milliseconds as kubectl shows an age: `90s`, `45m`, `30h`, `12d`. */
export function ageOf(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 2 * 3600) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 2 * 86_400) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}
