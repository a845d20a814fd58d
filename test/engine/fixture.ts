// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type ApplyOptions, type ApplyResult, applyCluster, type DesiredCluster } from "../../engine/index.ts";
import { defaultPolicy } from "../../engine/policy.ts";
import { parseSecrets, type SecretsBundle } from "../../talos/secrets/index.ts";
import { VirtualTiming } from "./virtual-timing.ts";
import { World } from "./world.ts";

export { type Wish, wish } from "./wish.ts";

export const testSecretsFile = join(import.meta.dirname, "../golden/secrets/secrets-v1.13.yaml");
let cached: SecretsBundle | undefined;

export function testSecrets(): SecretsBundle {
  cached ??= parseSecrets(readFileSync(testSecretsFile, "utf8"), testSecretsFile);
  return cached;
}

export interface Lab {
  readonly timing: VirtualTiming;
  readonly world: World;
  apply(desired: DesiredCluster, options?: Partial<ApplyOptions>): Promise<ApplyResult>;
}

/** A world with the machines of a wish, all empty. */
export function lab(desired: DesiredCluster): Lab {
  const timing = new VirtualTiming();
  const world = new World(timing);
  for (const { name, role } of desired.machines) world.add(name, role);
  return {
    timing,
    world,
    apply: (next, options = {}) =>
      applyCluster({
        desired: next,
        secrets: testSecrets(),
        machines: world.port(),
        timing,
        policy: defaultPolicy,
        ...options,
      }),
  };
}
