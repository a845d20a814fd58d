// SPDX-License-Identifier: Apache-2.0
import type { Fault, FaultKind } from "../control/fault-schema.ts";

/** The machine's fault of this kind that is in force now. */
export function faultOf<K extends FaultKind>(
  faults: readonly Fault[],
  kind: K,
  now: number,
): Extract<Fault, { kind: K }> | undefined {
  return faults.find(
    (fault): fault is Extract<Fault, { kind: K }> =>
      fault.kind === kind && (fault.until === undefined || now < fault.until) && fault.times !== 0,
  );
}

/** True while this fault is in force on the machine. */
export function hasFault(
  machine: { readonly faults: readonly Fault[] } | undefined,
  kind: FaultKind,
  now: number,
): boolean {
  return faultOf(machine?.faults ?? [], kind, now) !== undefined;
}

/** The faults after one of them has struck once. */
export function spend(faults: readonly Fault[], struck: Fault): readonly Fault[] {
  if (struck.times === undefined) return faults;
  const left = struck.times - 1;
  return faults.flatMap((fault) => (fault !== struck ? [fault] : left > 0 ? [{ ...fault, times: left }] : []));
}
