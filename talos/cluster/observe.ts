// SPDX-License-Identifier: Apache-2.0
import type { DesiredCluster } from "./desired.ts";
import type { Machines, MachineTarget } from "./machines.ts";
import type { MachineState, ObservedCluster, ObservedMachine } from "./observed.ts";

export interface ObserveOptions {
  readonly machines: Machines;
  readonly signal?: AbortSignal;
  /** Holds, while it is going on, the names of those who have been asked and have not answered. */
  readonly unanswered?: Set<string>;
}

/**
 * So many at a time. A machine's time to answer runs from when it is asked: asked all at once, hundreds of them would
 * only wait for our own encryption, and the last ones would count as silent.
 */
const atOnce = 24;

/** Looks at every desired and every leaving machine and at Kubernetes, side by side. */
export async function observe(
  desired: Pick<DesiredCluster, "machines" | "leaving">,
  { machines, signal, unanswered }: ObserveOptions,
): Promise<ObservedCluster> {
  const targets: readonly MachineTarget[] = [...desired.machines, ...desired.leaving];
  const states = new Map<string, MachineState>();
  const queue = targets.values();
  const lane = async () => {
    for (const target of queue) {
      unanswered?.add(target.name);
      states.set(target.name, await machines.inspect(target, signal));
      unanswered?.delete(target.name);
    }
  };
  const lanes = Array.from({ length: Math.min(atOnce, targets.length) }, lane);
  const [kubernetes] = await Promise.all([machines.kubernetes.observe(signal), ...lanes]);
  const observed = targets.flatMap(({ name, role, address }): ObservedMachine[] => {
    const state = states.get(name);
    return state === undefined ? [] : [{ name, role, address, state }];
  });
  return { machines: new Map(observed.map((machine) => [machine.name, machine])), kubernetes };
}
