// SPDX-License-Identifier: Apache-2.0
import { isDeepStrictEqual } from "node:util";
import type { Change } from "./plan.ts";

/** The names of the attributes that an update or a replacement changes: names only, since values may be secret. */
export function changedAttributes({ before, after, unknown }: Change): readonly string[] {
  if (before === null || after === null) return [];
  const names = new Set([...Object.keys(before), ...Object.keys(after), ...Object.keys(unknown)]);
  return [...names]
    .filter((name) => isUnknown(unknown[name]) || !isDeepStrictEqual(before[name] ?? null, after[name] ?? null))
    .sort();
}

/** Terraform marks what it does not know yet with `true`, however deep inside of a value. */
function isUnknown(mark: unknown): boolean {
  if (typeof mark === "object" && mark !== null) return Object.values(mark).some(isUnknown);
  return mark === true;
}
