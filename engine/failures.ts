// SPDX-License-Identifier: Apache-2.0
// Failures that are values: what is not there, does not answer or cannot be read.
import { TalosError, type TalosErrorCode } from "../talos/errors.ts";
import { oneLine } from "../talos/plain-text.ts";

/** For `catch`: undefined where the error has this code, as when something is not there; others pass. */
export const undefinedIf =
  (code: TalosErrorCode) =>
  (error: unknown): undefined => {
    if (!(error instanceof TalosError) || error.code !== code) throw error;
  };

/** For `catch`: not being reached is a state; only being stopped is an error. */
export function unreachable(error: unknown): { readonly kind: "unreachable"; readonly reason: string } {
  const ours = TalosError.from(error);
  if (ours.code === "canceled") throw ours;
  return { kind: "unreachable", reason: oneLine(ours.message) };
}
