// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../talos/errors.ts";
import { type ClusterAccess, withAccess } from "./engine.ts";
import type { StepContext } from "./execute/step-context.ts";

/** The admin kubeconfig of a running cluster, from the first control plane that gives it out. Secret. */
export async function fetchKubeconfig(options: ClusterAccess): Promise<string> {
  return withAccess(options, kubeconfigFrom);
}

export async function kubeconfigFrom(context: StepContext): Promise<string> {
  const failures: TalosError[] = [];
  for (const machine of context.desired.machines) {
    if (machine.role !== "controlplane") continue;
    try {
      return await context.machines.kubeconfig(machine, context.signal);
    } catch (error) {
      const ours = TalosError.from(error);
      if (ours.code === "canceled") throw ours;
      failures.push(ours);
    }
  }
  throw failures[0] ?? new TalosError("invalid-input", "a cluster needs at least one control plane");
}
