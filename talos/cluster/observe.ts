// SPDX-License-Identifier: Apache-2.0
import type { DesiredCluster } from "./desired.ts";
import type { Machines, MachineTarget } from "./machines.ts";
import type { ObservedCluster, ObservedMachine } from "./observed.ts";

export interface ObserveOptions {
  readonly machines: Machines;
  readonly signal?: AbortSignal;
}

/** Looks at every desired and every leaving machine and at Kubernetes, all at once. */
export async function observe(
  desired: Pick<DesiredCluster, "machines" | "leaving">,
  { machines, signal }: ObserveOptions,
): Promise<ObservedCluster> {
  const targets: readonly MachineTarget[] = [...desired.machines, ...desired.leaving];
  const [kubernetes, ...observed] = await Promise.all([
    machines.kubernetes.observe(signal),
    ...targets.map(
      async (target): Promise<ObservedMachine> => ({
        name: target.name,
        role: target.role,
        address: target.address,
        state: await machines.inspect(target, signal),
      }),
    ),
  ]);
  return { machines: new Map(observed.map((machine) => [machine.name, machine])), kubernetes };
}
