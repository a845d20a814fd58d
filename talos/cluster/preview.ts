// SPDX-License-Identifier: Apache-2.0
import { type EngineOptions, withContext } from "./engine.ts";
import { plan } from "./plan.ts";
import type { Step } from "./step.ts";

/** What an apply would do now, without doing any of it. */
export async function previewCluster(options: EngineOptions): Promise<readonly Step[]> {
  return withContext(options, async (context) => plan(context.desired, await context.observe(), context.policy));
}
