// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import type { Mode } from "../../talos/config/index.ts";
import type { LineEdit } from "./line-edits.ts";
import type { RandomConfig } from "./random-patches.ts";

/** What a real talosctl made of a config and its patches. */
export interface SeededCase extends RandomConfig {
  readonly results: Readonly<Record<string, SeededResult>>;
}

export type SeededResult =
  | { readonly error: string }
  /** Why the answer is nothing to go by. */
  | { readonly quirk: string }
  /** The text against the unpatched config, and how each mode judges it; `all` where they agree. */
  | { readonly edits: readonly LineEdit[]; readonly verdicts: Readonly<Partial<Record<Mode | "all", Verdict>>> };

export interface Verdict {
  readonly warnings: readonly string[];
  readonly error: string | null;
}

const golden = new URL("../golden/", import.meta.url);

/** The config that a case begins with, made by talosctl 1.14.1 for the contract. */
export function seededBase({ contract, type }: RandomConfig): string {
  return readFileSync(new URL(`config/1.14/${contract}/default/${type}.yaml`, golden), "utf8");
}

export const seededFile: URL = new URL("patch/seeded.jsonl", golden);

/** One case to a line. */
export function readSeeded(): readonly SeededCase[] {
  return readFileSync(seededFile, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}
