// SPDX-License-Identifier: Apache-2.0
import { stepLines } from "../../review/index.ts";

/** The steps that a deploy would do, as `plan` shows them. None for none. */
export function pendingLines(
  pending: readonly { readonly sentence: string }[],
  machines: readonly { readonly name: string }[],
): readonly string[] {
  if (pending.length === 0) return [];
  const sentences = pending.map(({ sentence }) => sentence);
  const names = machines.map(({ name }) => name);
  return [`Steps to do (${pending.length})`, ...stepLines(sentences, names).map((line) => `  ${line}`)];
}
