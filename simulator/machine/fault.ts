// SPDX-License-Identifier: Apache-2.0

/**
 * Trouble, as data. A fault stays until it is cleared, until `until`, or until its `times` are used up.
 * - `refuse`: nothing listens (connection refused)
 * - `reset`: connections are accepted and reset at once
 * - `half-open`: connections are accepted and then silent, without FIN
 * - `delay`: every call waits `milliseconds` first
 * - `trickle`: replies leave one small piece every `milliseconds`
 * - `wrong-certificate`: the server's certificate comes from a stranger's CA
 * - `expired-certificate`: it is from the right CA, but of yesterday
 * - `clock-skew`: the machine's clock is off by `milliseconds` (certificates, time service)
 * - `reject-config`: ApplyConfiguration fails with `message`
 * - `fail`: calls to `method` fail with `code` and `message`
 * - `crash`: the machine loses power before or after it handles `method`
 * - `disk-full`: what needs the disk fails
 * - `never-back`: the next time it goes down it stays down
 * - `component-not-ready`: a component of Kubernetes on a control plane runs and never becomes ready; with `version`, only
 *   that version of it
 * - `bad-boot`: an upgraded system does not come up; the boot loader goes back to the previous one
 */
export type FaultBody =
  | { readonly kind: "refuse" }
  | { readonly kind: "reset" }
  | { readonly kind: "half-open" }
  | { readonly kind: "delay"; readonly milliseconds: number }
  | { readonly kind: "trickle"; readonly milliseconds: number }
  | { readonly kind: "wrong-certificate" }
  | { readonly kind: "expired-certificate" }
  | { readonly kind: "clock-skew"; readonly milliseconds: number }
  | { readonly kind: "reject-config"; readonly message: string }
  | { readonly kind: "fail"; readonly method: string; readonly code: string; readonly message: string }
  | { readonly kind: "crash"; readonly method: string; readonly when: "before" | "after" }
  | { readonly kind: "disk-full" }
  | { readonly kind: "never-back" }
  | { readonly kind: "bad-boot" }
  | {
      readonly kind: "component-not-ready";
      readonly component: "kube-apiserver" | "kube-controller-manager" | "kube-scheduler";
      /** Without v. @default every version */
      readonly version?: string;
    };

export type FaultKind = FaultBody["kind"];

export type Fault = FaultBody & {
  /** Milliseconds since the epoch; the fault is over then. */
  readonly until?: number;
  /** How often it may still strike. */
  readonly times?: number;
};

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
