// SPDX-License-Identifier: Apache-2.0
import type { Entropy } from "../../talos/clock.ts";
import type { Timings } from "./timings.ts";
import type { World } from "./world.ts";

/** What a controller may know besides the world: the time, how long things take, and a source of chance. */
export interface Moment {
  readonly now: number;
  readonly timings: Timings;
  readonly entropy: Entropy;
}

/** One concern of the world's progress. Pure; returns the same world when there is nothing to do. */
export type Controller = (world: World, moment: Moment) => World;
