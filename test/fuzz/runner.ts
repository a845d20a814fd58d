// SPDX-License-Identifier: Apache-2.0
import { setImmediate as turn } from "node:timers/promises";
import { getHeapStatistics } from "node:v8";
import { TalosError } from "../../talos/errors.ts";
import { Random } from "./random.ts";
import type { Target, Trial } from "./target.ts";

/** Of a machine that does `referenceWork` in `referenceMilliseconds`. */
export const limits = { milliseconds: 100, megabytes: 64 } as const;
const referenceMilliseconds = 12;

export interface FuzzOptions {
  readonly inputs: number;
  readonly seed: number;
  /** The number of the first input. @default 0 */
  readonly first?: number;
  /** After so many different faults a run has said enough. @default 5 */
  readonly faults?: number;
  readonly progress?: (done: number) => void;
  /** Ends the run early; what was done until then counts. */
  readonly signal?: AbortSignal;
}

export interface FuzzFault {
  readonly what: string;
  /** How to make the input again. */
  readonly replay: string;
  readonly input: string;
}

export interface FuzzResult {
  readonly target: string;
  readonly inputs: number;
  /** Inputs that were taken, not refused: a run in which everything is refused tests little. */
  readonly accepted: number;
  /** Processor time of the whole run, the making of the inputs included. */
  readonly seconds: number;
  /** Processor time of the slowest input; measured again alone, so that a crowded machine does not count. */
  readonly worstMilliseconds: number;
  readonly worstMegabytes: number;
  readonly faults: readonly FuzzFault[];
}

/** Tries inputs one after another. Never throws: what a target does wrong is in the result. */
export async function fuzz(target: Target, options: FuzzOptions): Promise<FuzzResult> {
  const started = process.cpuUsage();
  const { inputs, seed, first = 0, faults: enough = 5 } = options;
  const faults = new Map<string, FuzzFault>();
  const report = (index: number, trial: Trial, what: string) => {
    const kind = what.replaceAll(/\d+/g, "0").slice(0, 160);
    if (faults.has(kind)) return;
    const replay = `npm run fuzz -- --target ${target.name} --seed ${seed} --first ${index} --inputs 1`;
    faults.set(kind, { what, replay, input: trial.show() });
  };
  const rejections: unknown[] = [];
  const onRejection = (reason: unknown) => rejections.push(reason);
  process.on("unhandledRejection", onRejection);
  let [accepted, worstMilliseconds, worstMegabytes, index] = [0, 0, 0, first];
  try {
    for (; index < first + inputs && faults.size < enough && !options.signal?.aborted; index += 1) {
      const trial = target.make(new Random(seed, index));
      let measured = await measure(trial);
      if (measured.milliseconds > Math.max(worstMilliseconds, 20) || measured.megabytes > Math.max(worstMegabytes, 16))
        measured = await again(trial, measured);
      worstMilliseconds = Math.max(worstMilliseconds, measured.milliseconds);
      worstMegabytes = Math.max(worstMegabytes, measured.megabytes);
      if (measured.fault === undefined && !measured.refused) accepted += 1;
      const what = measured.fault ?? overLimit(measured);
      if (what !== undefined) report(index, await shrink(trial, what), what);
      if (index % 512 === 511) {
        // A promise that nobody waits for is noticed a turn later.
        await turn();
        options.progress?.(index + 1 - first);
      }
      for (const reason of rejections.splice(0)) report(index, trial, `a rejection that nobody handles: ${reason}`);
    }
    await turn();
  } finally {
    process.off("unhandledRejection", onRejection);
  }
  const { user, system } = process.cpuUsage(started);
  return {
    target: target.name,
    inputs: index - first,
    accepted,
    seconds: (user + system) / 1_000_000,
    worstMilliseconds,
    worstMegabytes,
    faults: [...faults.values()],
  };
}

interface Measured {
  readonly milliseconds: number;
  readonly megabytes: number;
  readonly refused: boolean;
  readonly fault: string | undefined;
}

type Clock = () => number;

const processorTime: Clock = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/** By the clock on the wall, which is never less than the processor time, and costs less to ask. */
async function measure(trial: Trial, clock: Clock = () => performance.now()): Promise<Measured> {
  const keys = prototypeKeys();
  const heap = heapInUse();
  const started = clock();
  let fault: string | undefined;
  let refused = false;
  try {
    const running = trial.run();
    if (running !== undefined) await running;
  } catch (error) {
    refused = error instanceof TalosError && error.code !== "internal" && error.message.trim() !== "";
    if (!refused) fault = describe(error);
  }
  const milliseconds = clock() - started;
  const megabytes = (heapInUse() - heap) / 1024 ** 2;
  if (prototypeKeys() !== keys) {
    fault = "a prototype that all objects share was changed";
    for (const key of Object.keys(Object.prototype)) Reflect.deleteProperty(Object.prototype, key);
  }
  return { milliseconds, megabytes, refused, fault };
}

/** The best of a few runs: what another program, the compiler or a collection took is not the input's. */
async function again(trial: Trial, first: Measured): Promise<Measured> {
  let { milliseconds, megabytes } = first;
  for (let run = 0; run < 3; run += 1) {
    const next = await measure(trial, processorTime);
    milliseconds = Math.min(milliseconds, next.milliseconds);
    megabytes = Math.min(megabytes, next.megabytes);
    if (milliseconds < 5) break;
  }
  return { ...first, milliseconds, megabytes };
}

function overLimit({ milliseconds, megabytes }: Measured): string | undefined {
  // The pace is measured for those alone that seem slow.
  if (milliseconds > limits.milliseconds && milliseconds > limits.milliseconds * pace())
    return `took ${Math.round(milliseconds)} ms of processor time`;
  return megabytes > limits.megabytes ? `took ${Math.round(megabytes)} MB of heap` : undefined;
}

/** How many times slower than the reference this machine is at the moment; 1 where it is not. */
export function pace(): number {
  const started = processorTime();
  referenceWork();
  return Math.max(1, (processorTime() - started) / referenceMilliseconds);
}

/** Of the kind that a parser does: texts to objects and back. */
function referenceWork(): void {
  const text = JSON.stringify(
    Array.from({ length: 1000 }, (_, index) => ({ key: `value ${index}`, list: [index, "a"] })),
  );
  for (let round = 0; round < 40; round += 1) JSON.stringify(JSON.parse(text));
}

const heapInUse = () => {
  const { used_heap_size, external_memory } = getHeapStatistics();
  return used_heap_size + external_memory;
};

const shared: readonly object[] = [Object.prototype, Array.prototype, Function.prototype, String.prototype];
const prototypeKeys = () => shared.reduce((sum, prototype) => sum + Reflect.ownKeys(prototype).length, 0);

function describe(error: unknown): string {
  if (!(error instanceof Error)) return `threw ${String(error)}`;
  const frames = (error.stack ?? "").split("\n").filter((line) => line.trimStart().startsWith("at "));
  return `threw ${error.name}: ${error.message.slice(0, 300)}\n${frames.slice(0, 6).join("\n")}`;
}

/** The smallest input that goes wrong in the same way, as far as two seconds go. */
async function shrink(trial: Trial, what: string): Promise<Trial> {
  const kind = (text: string) => text.replaceAll(/\d+/g, "0").slice(0, 60);
  const end = performance.now() + 2000;
  let smallest = trial;
  for (let found = true; found; ) {
    found = false;
    for (const candidate of smallest.smaller()) {
      if (performance.now() > end) return smallest;
      const measured = await measure(candidate, processorTime);
      const same = measured.fault ?? overLimit(measured);
      if (same === undefined || kind(same) !== kind(what)) continue;
      smallest = candidate;
      found = true;
      break;
    }
  }
  return smallest;
}
