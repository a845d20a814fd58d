// SPDX-License-Identifier: Apache-2.0
import { type EngineOptions, withContext } from "./engine.ts";
import type { ObservedCluster } from "./observed.ts";
import { plan } from "./plan.ts";
import { type Finding, preflight } from "./preflight.ts";
import type { Step } from "./step.ts";

export interface Preview {
  readonly observed: ObservedCluster;
  /** What an apply would do now. */
  readonly steps: readonly Step[];
  /** What an apply would refuse or warn about before the first step. */
  readonly findings: readonly Finding[];
}

/** Looks at a cluster and at what is left to do, without doing any of it. */
export async function previewCluster(options: EngineOptions): Promise<Preview> {
  return withContext(options, async (context) => {
    const observed = await context.observe();
    const { desired, policy } = context;
    return { observed, steps: plan(desired, observed, policy), findings: preflight(desired, observed) };
  });
}
