// SPDX-License-Identifier: Apache-2.0

/** Something that stands in the way (`error`), or that someone should know (`warning`). */
export interface Finding {
  readonly severity: "error" | "warning";
  readonly message: string;
  readonly machine?: string;
  /** What to do about it. */
  readonly hint?: string;
}
