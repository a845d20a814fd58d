// SPDX-License-Identifier: Apache-2.0

/** One thing that the doctor looked at. */
export interface Finding {
  readonly about: string;
  /** A fault keeps a deploy from working, or is dangerous; a note does not. */
  readonly level: "ok" | "note" | "fault";
  readonly says: string;
}
