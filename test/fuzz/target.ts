// SPDX-License-Identifier: Apache-2.0
import type { Random } from "./random.ts";

/** One input, ready to be tried. */
export interface Trial {
  /** For people, to see what it was. */
  show(): string;
  /** A `TalosError` refuses the input, as it should; anything else that is thrown is a fault. */
  run(): void | Promise<void>;
  /** Inputs that are a little smaller, for finding the smallest one with the same fault. */
  smaller(): Iterable<Trial>;
}

/** Something that takes data from outside, and how to make such data. */
export interface Target {
  readonly name: string;
  /** What it is about, for the table of results. */
  readonly about: string;
  make(random: Random): Trial;
}

/** What the target promises of an input that it accepts, and did not keep. */
export class BrokenPromise extends Error {
  override readonly name = "BrokenPromise";
}

export function promise(kept: boolean, what: string): void {
  if (!kept) throw new BrokenPromise(what);
}

/** For what must go well after an input was taken: a refusal comes too late then. */
export function afterwards<T>(what: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw new BrokenPromise(`${what}: ${error instanceof Error ? error.message.slice(0, 300) : String(error)}`);
  }
}

/** A trial of one text: shown whole, and made smaller line by line, then piece by piece. */
export function textTrial(text: string, run: (text: string) => void | Promise<void>, prefix = ""): Trial {
  return {
    show: () => prefix + JSON.stringify(text),
    run: () => run(text),
    *smaller() {
      for (const shorter of shorterTexts(text)) yield textTrial(shorter, run, prefix);
    },
  };
}

/** A trial of bytes: shown in base64. */
export function bytesTrial(bytes: Uint8Array, run: (bytes: Uint8Array) => void | Promise<void>, prefix = ""): Trial {
  return {
    show: () => `${prefix}base64 ${Buffer.from(bytes).toString("base64")}`,
    run: () => run(bytes),
    *smaller() {
      for (let size = bytes.length >> 1; size >= 1; size >>= 1)
        for (let at = 0; at < bytes.length; at += size)
          yield bytesTrial(Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + size)]), run, prefix);
    },
  };
}

function* shorterTexts(text: string): Iterable<string> {
  for (const separator of ["\n", ""]) {
    const parts = text.split(separator);
    for (let size = parts.length >> 1; size >= 1; size >>= 1)
      for (let at = 0; at < parts.length; at += size)
        yield [...parts.slice(0, at), ...parts.slice(at + size)].join(separator);
  }
}
