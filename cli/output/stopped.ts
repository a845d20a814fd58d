// SPDX-License-Identifier: Apache-2.0
import type { Output } from "../context.ts";

/** When the first signal has come, while work is under way: the same whatever does the work. */
export function stoppingText({ isTerminal }: Output): string {
  return `Stopping where it is safe. ${isTerminal ? "Press Ctrl-C again" : "Send the signal again"} to stop at once.`;
}

/** The last line of a command that was stopped: what to type to go on. `atOnce`: a second signal has ended it. */
export function stoppedText(args: readonly string[] | undefined, { atOnce = false } = {}): string {
  if (args === undefined) return "Stopped. Run the same command again to go on from here.";
  const line = ["talosmith", ...args.map(shellWord)].join(" ");
  return `Stopped${atOnce ? " at once" : ""}. To go on from here: ${line}`;
}

/** A word as a shell reads it back. */
function shellWord(word: string): string {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
