// SPDX-License-Identifier: Apache-2.0
import { type EngineOptions, withContext } from "./engine.ts";
import type { ObservedCluster } from "./observed.ts";
import { plan } from "./plan.ts";
import type { Step } from "./step.ts";

export interface Preview {
  readonly observed: ObservedCluster;
  /** What an apply would do now. */
  readonly steps: readonly Step[];
}

/** Looks at a cluster and at what is left to do, without doing any of it. */
export async function previewCluster(options: EngineOptions): Promise<Preview> {
  return withContext(options, async (context) => {
    const observed = await context.observe();
    return { observed, steps: plan(context.desired, observed, context.policy) };
  });
}
