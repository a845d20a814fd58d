// SPDX-License-Identifier: Apache-2.0
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { parseEvent, type ToldEvent } from "../../engine/index.ts";
import { type ApplyingRun, applyingRun } from "./plan-file.ts";
import { parseEnd } from "./run-end.ts";

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
