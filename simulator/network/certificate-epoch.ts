// SPDX-License-Identifier: Apache-2.0

/** Server certificates live a day; they are renewed at half of it. */
const renewal = 12 * 3_600_000;
/** They begin a minute before they are made: a clock that is set back by less spoils none. */
const tolerance = 30_000;

/** When certificates were made; those of another epoch are made anew. */
export interface CertificateEpoch {
  readonly half: number;
  /** By how much the time of day is ahead of a clock that nobody sets. */
  readonly offset: number;
}

/**
 * Pure: the epoch before, unless its certificates have grown old or the clock was set; a laptop that wakes up is both.
 * `elapsed` is in milliseconds, too, of a clock that nobody sets.
 */
export function certificateEpoch(before: CertificateEpoch | undefined, now: number, elapsed: number): CertificateEpoch {
  const next = { half: Math.floor(now / renewal), offset: now - elapsed };
  if (before === undefined) return next;
  return before.half === next.half && Math.abs(before.offset - next.offset) < tolerance ? before : next;
}
