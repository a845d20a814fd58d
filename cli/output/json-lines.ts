// SPDX-License-Identifier: Apache-2.0
import type { ClusterEvent } from "../../engine/index.ts";

/** One engine event as a line of NDJSON. `v` changes when a field changes its meaning or goes away. */
export function jsonLine({ at, step, steps, ...event }: ClusterEvent): string {
  const line = {
    v: 1,
    at: at.toISOString(),
    ...event,
    ...(step === undefined ? {} : { step: step.id }),
    ...(steps === undefined ? {} : { steps: steps.map(({ id, sentence }) => ({ id, sentence })) }),
  };
  return `${JSON.stringify(line)}\n`;
}
