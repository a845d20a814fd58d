// SPDX-License-Identifier: Apache-2.0
import { spawnSync } from "node:child_process";

/** One promise about speed: ours against an anchor that is measured beside it, in the same run. */
export interface Row {
  readonly name: string;
  readonly anchor: string;
  /** The ratio ours ÷ anchor must not be above this. */
  readonly budget: number;
  /** Undefined when the anchor is not on this machine; `ours` is still told. */
  measure(): Promise<Measurement>;
}

export interface Measurement {
  readonly ours: number;
  readonly anchor: number | undefined;
  readonly unit: string;
  readonly note?: string;
}

/** Wall time of the fastest of several runs: what the machine can do when nothing else disturbs it. */
export async function fastest(runs: number, work: () => Promise<void> | void): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < runs; run++) {
    const started = performance.now();
    await work();
    best = Math.min(best, performance.now() - started);
  }
  return best;
}

/** The fastest of each, by turns, so that a busy moment hits both. */
export async function byTurns(
  runs: number,
  ours: () => Promise<void> | void,
  anchor: () => Promise<void> | void,
): Promise<Measurement & { readonly anchor: number }> {
  const best = { ours: Number.POSITIVE_INFINITY, anchor: Number.POSITIVE_INFINITY };
  for (let run = 0; run < runs; run++) {
    best.anchor = Math.min(best.anchor, await fastest(1, anchor));
    best.ours = Math.min(best.ours, await fastest(1, ours));
  }
  return { ...best, unit: "ms" };
}

/** Runs a program and fails loudly when it does: a crash must never count as a fast run. */
export function succeed(
  program: string,
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): void {
  const { status, stderr } = spawnSync(program, args, { ...options, stdio: ["ignore", "ignore", "pipe"] });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${status}: ${stderr}`);
}
