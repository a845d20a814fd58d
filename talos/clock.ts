// SPDX-License-Identifier: Apache-2.0
import { randomBytes } from "node:crypto";

/** Where time comes from. Tests and the simulator pass their own. */
export interface Clock {
  now(): Date;
}

/** Where randomness comes from: `count` unpredictable bytes. */
export type Entropy = (count: number) => Uint8Array;

export const systemClock: Clock = { now: () => new Date() };
export const systemEntropy: Entropy = (count) => randomBytes(count);
