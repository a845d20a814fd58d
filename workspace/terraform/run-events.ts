// SPDX-License-Identifier: Apache-2.0

import { appendFileSync, closeSync, fstatSync, openSync, readSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { StringDecoder } from "node:string_decoder";
import * as z from "zod";
import { parseEvent, type ToldEvent } from "../../engine/index.ts";
import { jsonIn } from "../../talos/plain-text.ts";
import { type ApplyingRun, applyingRun } from "./plan-file.ts";

/** How a run that applies a plan has ended: the last line of the file in which it tells what it does. */
type RunEnd = z.infer<typeof schema>["end"];

const schema = z.object({ end: z.object({ outcome: z.enum(["done", "failed", "stopped"]), at: z.coerce.date() }) });

/** Begins a line of its own: who was killed may have left half a line before it. */
function endLine(end: RunEnd): string {
  return `\n${JSON.stringify({ end })}\n`;
}

/** Undefined for a line that tells of no end. */
function parseEnd(line: string): RunEnd | undefined {
  return schema.safeParse(jsonIn(line)).data?.end;
}

const interval = 200;

/**
 * Tells what the provider writes into a file while the work lasts. `catchUp` tells at once what is there already. The
 * file is gone afterwards; who has it open still reads in its last line how the work has ended.
 */
export async function withFollowedEvents<T>(
  path: string,
  signal: AbortSignal,
  tell: (event: ToldEvent) => void,
  work: (catchUp: () => void) => Promise<T>,
): Promise<T> {
  const file = openSync(path, "a+", 0o600);
  const decoder = new StringDecoder("utf8");
  const buffer = Buffer.alloc(64 * 1024);
  let offset = 0;
  let rest = "";
  const catchUp = () => {
    for (let count = 1; count > 0; ) {
      count = readSync(file, buffer, 0, buffer.length, offset);
      offset += count;
      rest += decoder.write(buffer.subarray(0, count));
    }
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const event = parseEvent(line);
      if (event !== undefined) tell(event);
    }
  };
  const timer = setInterval(catchUp, interval);
  let isDone = false;
  try {
    const result = await work(catchUp);
    isDone = true;
    return result;
  } finally {
    clearInterval(timer);
    catchUp();
    writeEnd(file, isDone ? "done" : signal.aborted ? "stopped" : "failed");
    closeSync(file);
    await rm(path, { force: true });
  }
}

/** A disk that is full does not change what came of the work. */
function writeEnd(file: number, outcome: RunEnd["outcome"]): void {
  try {
    appendFileSync(file, endLine({ outcome, at: new Date() }));
  } catch {
    return;
  }
}

/** Work on an environment that another process does. */
export interface OtherRun {
  /** The same for as long as it runs, and of no other. */
  readonly id: string;
  readonly action: "deploy" | "destroy";
  readonly startedAt: Date;
  readonly events: readonly ToldEvent[];
  /** Null while it lasts; unknown where it was killed. */
  readonly end: { readonly outcome: "done" | "failed" | "stopped" | "unknown"; readonly at: Date } | null;
}

interface Followed {
  readonly found: ApplyingRun;
  readonly file: number;
  readonly startedAt: Date;
}

/** What `talosmith deploy` or `destroy` does through Terraform in stacks' folders, whoever has started it. */
export class OtherRuns {
  readonly #files = new Map<string, Followed>();
  readonly #ended = new Map<string, OtherRun>();

  /** The run in this folder now, or the last one that was seen there. */
  look(directory: string): OtherRun | undefined {
    const applying = applyingRun(directory);
    const followed = this.#files.get(directory) ?? this.#open(directory, applying);
    if (followed === undefined) return this.#ended.get(directory);
    const seen = readRun(followed);
    if (seen.end === null && applying?.run === followed.found.run) return seen;
    closeSync(followed.file);
    this.#files.delete(directory);
    // Who was killed has not said how it ended.
    const ended: OtherRun = { ...seen, end: seen.end ?? { outcome: "unknown", at: new Date() } };
    this.#ended.set(directory, ended);
    return ended;
  }

  /** It stays open: a run takes its file away when it ends, and its last words are read all the same. */
  #open(directory: string, found: ApplyingRun | undefined): Followed | undefined {
    if (found === undefined || this.#ended.get(directory)?.id === idOf(found)) return undefined;
    try {
      const file = openSync(join(directory, found.events), "r");
      const followed = { found, file, startedAt: fstatSync(file).birthtime };
      this.#files.set(directory, followed);
      return followed;
    } catch {
      return undefined; // It has ended meanwhile, and taken its file away.
    }
  }
}

function readRun({ found, file, startedAt }: Followed): OtherRun {
  const lines = readText(file).split("\n");
  return {
    id: idOf(found),
    action: found.action,
    startedAt,
    events: lines.flatMap((line) => parseEvent(line) ?? []),
    end: lines.map(parseEnd).find((end) => end !== undefined) ?? null,
  };
}

/** Nothing where the disk gives nothing: the page goes on without. */
function readText(file: number): string {
  try {
    const buffer = Buffer.alloc(fstatSync(file).size);
    return buffer.toString("utf8", 0, readSync(file, buffer, 0, buffer.length, 0));
  } catch {
    return "";
  }
}

function idOf({ run }: ApplyingRun): string {
  return `terraform-${run}`;
}
