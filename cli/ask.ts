// SPDX-License-Identifier: Apache-2.0
import { createInterface } from "node:readline/promises";
import { TalosError } from "../talos/errors.ts";
import type { CommandContext } from "./context.ts";

/** Asks as talosctl does: y and yes count, everything else is a no. */
export async function confirmed(question: string, context: CommandContext): Promise<boolean> {
  if (!process.stdin.isTTY) {
    throw new TalosError("failed-precondition", "confirmation is needed, but there is no terminal to ask on", {
      hint: "Add --noconfirm to go ahead without asking.",
    });
  }
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await prompt.question(`${question} (y/N): `, { signal: context.signal });
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    prompt.close();
  }
}

/** Asks as terraform does: only the whole word counts. Without a terminal nothing can be asked, so nothing is done. */
export async function approved(
  question: string,
  answer: string,
  context: CommandContext,
  flag = "--auto-approve",
): Promise<boolean> {
  if (!context.stderr.isTerminal || !process.stdin.isTTY) {
    throw new TalosError("failed-precondition", "approval is needed, but there is no terminal to ask on", {
      hint: `Add ${flag} to go ahead without asking.`,
    });
  }
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (
      (await prompt.question(`\n${question}\n  Only "${answer}" is accepted: `, { signal: context.signal })) === answer
    );
  } finally {
    prompt.close();
  }
}
