// SPDX-License-Identifier: Apache-2.0
import { differences } from "../recording/normalize.ts";
import type { Observation } from "./scenario.ts";

/** What `npm run test:real -- --compare` saw on real machines. */
export const recordedLife = "test/golden/life.json";

/** Places in which the simulator differs, and the reason as docs/simulator.md has it. */
export const knownLifeDifferences: readonly { readonly place: RegExp; readonly reason: string }[] = [
  {
    place: /^[\w ]+: pods\.kube-flannel on /,
    reason: "the real machines have a network plugin of their own in place of flannel",
  },
];

/** Each place in which a phase differs. */
export function lifeDifferences(real: readonly Observation[], found: readonly Observation[]): readonly string[] {
  return real.flatMap((observed, index) =>
    differences(observed, found[index]).map((place) => `${observed.phase}: ${place}`),
  );
}

/** Without those that are known. */
export function unknownDifferences(real: readonly Observation[], found: readonly Observation[]): readonly string[] {
  return lifeDifferences(real, found).filter((each) => !knownLifeDifferences.some(({ place }) => place.test(each)));
}
