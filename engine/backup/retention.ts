// SPDX-License-Identifier: Apache-2.0

export interface Keep {
  /** The newest so many. */
  readonly count?: number | undefined;
  /** Everything younger than this, in milliseconds. */
  readonly age?: number | undefined;
}

/**
 * The backups that no rule keeps, oldest first. Each rule keeps what it names, so that together they keep more and not
 * less. Without a rule all are kept, and the newest one always is. Pure.
 */
export function expired<B extends { readonly takenAt: Date }>(
  backups: readonly B[],
  keep: Keep,
  now: Date,
): readonly B[] {
  if (keep.count === undefined && keep.age === undefined) return [];
  const newestFirst = [...backups].sort((a, b) => b.takenAt.getTime() - a.takenAt.getTime());
  const kept = Math.max(1, keep.count ?? 0);
  return newestFirst
    .filter(({ takenAt }, index) => index >= kept && now.getTime() - takenAt.getTime() >= (keep.age ?? 0))
    .reverse();
}
