// SPDX-License-Identifier: Apache-2.0
import type { LeavingMachine } from "../desired.ts";
import type { Machines, MachineTarget } from "../machines.ts";
import type { MachineState, ObservedCluster, ObservedMachine } from "../observed.ts";

export interface ObserveOptions {
  readonly machines: Machines;
  readonly signal?: AbortSignal | undefined;
  /** Holds, while it is going on, the names of those who have been asked and have not answered. */
  readonly unanswered?: Set<string>;
}

/**
 * So many at a time. A machine's time to answer runs from when it is asked: asked all at once, hundreds of them would
 * only wait for our own encryption, and the last ones would count as silent.
 */
const atOnce = 24;

/** Who is looked at. */
export interface Observable {
  /** Each is asked for when its turn comes: its config may be made while the others answer. */
  readonly machines: Iterable<MachineTarget>;
  readonly leaving: readonly LeavingMachine[];
}

/** Looks at every desired and every leaving machine and at Kubernetes, side by side. */
export async function observe(
  desired: Observable,
  { machines, signal, unanswered }: ObserveOptions,
): Promise<ObservedCluster> {
  const targets: MachineTarget[] = [];
  const states = new Map<string, MachineState>();
  const queue = allOf(desired);
  const lane = async () => {
    for (const target of queue) {
      targets.push(target);
      unanswered?.add(target.name);
      states.set(target.name, await machines.inspect(target, signal));
      unanswered?.delete(target.name);
    }
  };
  const asked = machines.kubernetes.observe(signal);
  const [kubernetes] = await Promise.all([asked, ...Array.from({ length: atOnce }, lane)]);
  const observed = targets.flatMap(({ name, role, address }): ObservedMachine[] => {
    const state = states.get(name);
    return state === undefined ? [] : [{ name, role, address, state }];
  });
  return { machines: new Map(observed.map((machine) => [machine.name, machine])), kubernetes };
}

function* allOf({ machines, leaving }: Observable): Generator<MachineTarget> {
  yield* machines;
  yield* leaving;
}
