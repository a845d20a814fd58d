// SPDX-License-Identifier: Apache-2.0
import semver from "semver";
import { TalosError } from "../errors.ts";

export interface SemanticVersion {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
  /** As written, without a leading `v`. */
  readonly text: string;
}

/** Fills in parts that were left out, as talosctl's own version flags do: `1.36` means `1.36.0`. */
export function completeVersion(text: string): string {
  const [, start = "", end = ""] = /^(v?\d+(?:\.\d+){0,2})(.*)$/.exec(text) ?? ["", text];
  const missing = /^v?\d/.test(start) ? 3 - start.split(".").length : 0;
  return `${start}${".0".repeat(missing)}${end}`;
}

/**
 * Reads `1.13.9`, `v1.13.9` or a pre-release such as `v1.14.0-rc.1`. For text that is none, such as `1.13`, `exact` is
 * the version that its author probably means.
 */
export function parseSemanticVersion(text: string, what: string, example: string, exact?: string): SemanticVersion {
  const bare = text.startsWith("v") ? text.slice(1) : text;
  const parsed = semver.parse(bare);
  if (parsed === null || parsed.version !== bare) {
    throw new TalosError("invalid-input", `${JSON.stringify(text)} is not ${what} version`, {
      hint:
        exact === undefined
          ? `Write all three parts, such as "${example}".`
          : `Write "${exact}", the newest that talosmith knows.`,
    });
  }
  return { major: parsed.major, minor: parsed.minor, patch: parsed.patch, text: bare };
}

/** The newest release known of what a text names, or the text. Throws for a minor release, such as `1.99`, of which none is known. */
export function exactOf(product: string, text: string, newest: string | undefined): string {
  const [, minor] = /^v?(\d+\.\d+)$/.exec(text) ?? [];
  if (newest !== undefined || minor === undefined) return newest ?? text;
  throw new TalosError("invalid-input", `no release of ${product} ${minor} is known`, {
    hint: "Give an exact version with all three parts, or install a newer talosmith.",
  });
}
