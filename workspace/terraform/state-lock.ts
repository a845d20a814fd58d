// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import { TalosError } from "../../talos/errors.ts";

/** What terraform and tofu say of the holder of a lock, whichever backend it is in. */
function field(words: string, name: string): string | undefined {
  return new RegExp(`^[│\\s]*${name}:\\s+(\\S.*?)\\s*$`, "m").exec(words)?.[1];
}

const doing: Readonly<Record<string, string>> = {
  OperationTypePlan: "planning",
  OperationTypeApply: "applying",
  OperationTypeRefresh: "refreshing",
};

const info = z.object({ Operation: z.string(), Who: z.string(), Created: z.string() });

/** What terraform and tofu write beside a local state while they hold its lock. */
export type LockInfo = z.infer<typeof info>;

export function lockInfo(value: unknown): LockInfo | undefined {
  return info.safeParse(value).data;
}

/** A plan writes no state: one that is empty while a plan holds it was never written. */
export function isPlan({ Operation }: LockInfo): boolean {
  return Operation === "OperationTypePlan";
}

export function atWork({ Operation, Who, Created }: LockInfo, is: "is" | "was" = "is"): string {
  const since = Created.replace(/\.\d+Z$/, " UTC").replace("T", " ");
  return `${Who} ${is} ${doing[Operation] ?? Operation} since ${since}`;
}

/** Who holds the state's lock and what to do, when that is what terraform's words are about. */
export function lockedError(words: string, program: string): TalosError | undefined {
  if (!words.includes("Error acquiring the state lock")) return undefined;
  const id = field(words, "ID");
  if (id === undefined) return undefined;
  const operation = field(words, "Operation") ?? "";
  const who = field(words, "Who") ?? "somebody";
  const since = field(words, "Created")?.replace(/\.\d+ .*$/, " UTC");
  const what = doing[operation] ?? operation;
  return new TalosError(
    "failed-precondition",
    `the state is locked: ${who} is ${what}${since === undefined ? "" : ` since ${since}`}`,
    { hint: `Wait until that has ended and try again. ${wayOut(words, program, id)}` },
  );
}

/** The lock of a local state is its process's: it ends with that, and nothing else can end it. */
function wayOut(words: string, program: string, id: string): string {
  return words.includes("resource temporarily unavailable")
    ? `Its ${program} is still running on this computer, even if what started it was killed: pgrep -a ${program}`
    : `Only if it was killed, in the stack's folder: ${program} force-unlock ${id}`;
}
