// SPDX-License-Identifier: Apache-2.0
import { type EngineOptions, withContext } from "../engine.ts";
import type { Finding } from "../events.ts";
import { type Unready, unreadyParts } from "../health/unready.ts";
import { readOwnership, refuseKnownOwner } from "../lock/ownership.ts";
import type { ObservedCluster } from "../observed.ts";
import type { Step } from "../step.ts";
import { plan } from "./plan.ts";
import { preflight } from "./preflight.ts";
import { returnedFindings } from "./preflight-live.ts";

export interface Preview {
  readonly observed: ObservedCluster;
  /** What an apply would do now. */
  readonly steps: readonly Step[];
  /** What an apply would refuse or warn about before the first step. */
  readonly findings: readonly Finding[];
  /** What does not work of what is there, as `unreadyParts` finds it. */
  readonly unready: readonly Unready[];
}

/** Errors that an apply would stop at now. Machines that were not observed are left out: they may answer by then. */
export function refusals({ observed, findings }: Pick<Preview, "observed" | "findings">): readonly Finding[] {
  const isObserved = (name: string) => {
    const kind = observed.machines.get(name)?.state.kind;
    return kind !== "unreachable" && kind !== "foreign";
  };
  return findings.filter(({ severity, machine = "" }) => severity === "error" && isObserved(machine));
}

/** Looks at a cluster and at what is left to do, without doing any of it. Throws when another state has the cluster. */
export async function previewCluster(options: EngineOptions): Promise<Preview> {
  return withContext(options, async (context) => {
    const observed = await context.observe();
    await refuseKnownOwner(context, observed.kubernetes, options.claim);
    const { desired, policy } = context;
    const findings = [...preflight(desired, observed), ...(await returnedFindings(context, observed))];
    const unready = unreadyParts(desired, observed, policy);
    return { observed, steps: plan(desired, observed, policy), findings, unready };
  });
}

/** The Terraform state that the cluster records as its owner; undefined where it has none, or cannot be asked. */
export async function recordedOwner(
  options: EngineOptions,
  { kubernetes }: Pick<ObservedCluster, "kubernetes">,
): Promise<string | undefined> {
  return withContext(options, async (context) => {
    const reading = await readOwnership(context, kubernetes);
    return typeof reading === "object" ? reading.ownership?.owner : undefined;
  });
}
