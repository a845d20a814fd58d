// SPDX-License-Identifier: Apache-2.0
import { oneLine, plainText } from "./plain-text.ts";

/**
 * The closed set of reasons. The first group is the caller's to mend; the second is the world's and may pass;
 * `internal` is ours.
 */
export type TalosErrorCode =
  | "invalid-input"
  | "not-found"
  | "already-exists"
  | "failed-precondition"
  | "permission-denied"
  | "unimplemented"
  | "conflict"
  | "unavailable"
  | "deadline-exceeded"
  | "canceled"
  | "internal";

/** Each kind of error as a title over its sentence. */
export const errorTitles: Readonly<Record<TalosErrorCode, string>> = {
  "invalid-input": "Invalid input",
  "not-found": "Not found",
  "already-exists": "Exists already",
  "failed-precondition": "Not possible now",
  "permission-denied": "Permission denied",
  unimplemented: "Not supported",
  conflict: "Conflict",
  unavailable: "Not reachable",
  "deadline-exceeded": "Took too long",
  canceled: "Stopped",
  internal: "Fault in talosmith",
};

/** Characters of what a machine says. */
const longest = 2_000;

const retryable: ReadonlySet<TalosErrorCode> = new Set(["unavailable", "deadline-exceeded"]);

export interface TalosErrorOptions {
  /** The machine that the error is about: its name where known, else its address. */
  readonly node?: string | undefined;
  /** What to do next, one sentence for a person. */
  readonly hint?: string | undefined;
  readonly cause?: unknown;
}

/**
 * The one error of the `talos` folders. Foreign errors are turned into it once, at the border where they arise; whatever
 * machines and programs have put into their words, a terminal can show them.
 */
export class TalosError extends Error {
  override readonly name = "TalosError";
  readonly code: TalosErrorCode;
  readonly node: string | undefined;
  readonly hint: string | undefined;

  constructor(code: TalosErrorCode, message: string, options: TalosErrorOptions = {}) {
    super(plainText(message), options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.node = options.node;
    this.hint = options.hint === undefined ? undefined : plainText(options.hint);
  }

  /** True when the same call may succeed later without anyone changing anything. */
  get retryable(): boolean {
    return retryable.has(this.code);
  }

  /** The message as people see it: what a machine says in it begins no line of its own, for those are ours, and it ends. */
  get shown(): string {
    if (this.node === undefined) return this.message;
    const line = oneLine(this.message);
    return line.length > longest ? `${line.slice(0, longest)}…` : line;
  }

  /** Message and hint, where both stand in one text. */
  get text(): string {
    if (this.hint === undefined) return this.shown;
    const message = this.shown.trimEnd();
    return `${message}${/[.!?:]$/.test(message) ? "" : "."} ${this.hint}`;
  }

  static from(error: unknown): TalosError {
    if (error instanceof TalosError) return error;
    const message = error instanceof Error ? error.message : String(error);
    return new TalosError("internal", message, { cause: error });
  }
}
