// SPDX-License-Identifier: Apache-2.0
import { EnvironmentError, formatFault } from "../model/index.ts";
import { TalosError } from "../talos/errors.ts";

/** Errors that stay until the spec, or a pool, changes. */
export const isOfSpec = (error: unknown): boolean =>
  error instanceof EnvironmentError ||
  (error instanceof TalosError && ["invalid-input", "failed-precondition"].includes(error.code));

/** What is wrong with a spec, one line for each fault, by the paths that the object has. */
export function specFaults(error: unknown): string {
  if (!(error instanceof EnvironmentError)) return TalosError.from(error).text;
  return error.faults.map((fault) => (fault.path === "" ? formatFault(fault) : faultLine(fault))).join("\n");
}

const faultLine = ({ path, found, expected, hint }: EnvironmentError["faults"][number]) =>
  `spec.${path}: found ${found}, expected ${expected}. ${hint}`;
