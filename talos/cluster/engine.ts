// SPDX-License-Identifier: Apache-2.0
import type { SecretsBundle } from "../secrets/index.ts";
import type { DesiredCluster } from "./desired.ts";
import type { EventListener } from "./events.ts";
import type { Machines } from "./machines.ts";
import { defaultPolicy, type Policy } from "./policy.ts";
import { StepContext } from "./step-context.ts";
import { talosMachines } from "./talos-machines.ts";
import { defaultTimeouts, type Timeouts } from "./timeouts.ts";
import { systemTiming, type Timing } from "./timing.ts";

/** What every procedure over a cluster takes. */
export interface EngineOptions {
  readonly desired: DesiredCluster;
  readonly secrets: SecretsBundle;
  readonly policy?: Partial<Policy>;
  readonly timeouts?: Partial<Timeouts>;
  readonly events?: EventListener;
  /** Stops at the next safe point; the error then has code `canceled`. */
  readonly signal?: AbortSignal;
  /** Send first configs to machines without a known fingerprint. @default false */
  readonly trustOnFirstUse?: boolean;
  /** @default the real machines */
  readonly machines?: Machines;
  readonly timing?: Timing;
}

/** Gives the work its context and, whatever happens, closes the connections that were opened for it. */
export async function withContext<T>(options: EngineOptions, work: (context: StepContext) => Promise<T>): Promise<T> {
  const machines = options.machines ?? talosMachines(options);
  try {
    return await work(contextOf(options, machines));
  } finally {
    if (options.machines === undefined) machines.close();
  }
}

function contextOf(options: EngineOptions, machines: Machines): StepContext {
  return new StepContext({
    desired: options.desired,
    machines,
    policy: { ...defaultPolicy, ...options.policy },
    timeouts: { ...defaultTimeouts, ...options.timeouts },
    timing: options.timing ?? systemTiming,
    ...(options.signal === undefined ? {} : { signal: options.signal }),
    ...(options.events === undefined ? {} : { events: options.events }),
  });
}
