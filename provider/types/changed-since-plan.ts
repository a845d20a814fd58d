// SPDX-License-Identifier: Apache-2.0
import { type AttributePath, DiagnosticError } from "../framework/index.ts";

/** Files that are only named may change between plan and apply, and nobody has agreed to what they hold now. */
export function changedSincePlan(what: string, path: AttributePath): DiagnosticError {
  return new DiagnosticError({
    summary: "Not what was planned",
    detail: `${what} changed after the plan was made. Nothing was done; plan again.`,
    path,
  });
}
