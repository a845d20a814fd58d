// SPDX-License-Identifier: Apache-2.0
import type { Plan } from "./plan.ts";

export const levels = ["caution", "danger"] as const;

/** A danger may lose data, access or quorum; a caution deserves a look. */
export type Level = (typeof levels)[number];

/** One reason for a person to look before this plan is applied. */
export interface Finding {
  readonly level: Level;
  /** The kind of trouble in two or three words, the same for all of a kind. */
  readonly title: string;
  readonly address: string;
  readonly sentence: string;
}

/** Looks at a whole plan for one kind of trouble. */
export type Rule = (plan: Plan) => readonly Finding[];
