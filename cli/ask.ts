// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../talos/errors.ts";
import type { CommandContext } from "./context.ts";
import { question } from "./question.ts";

/** What `addApproval` gives a command. */
export interface ApprovalFlags {
  readonly yes: boolean;
}

/** Asks as talosctl does: y and yes count, everything else is a no. */
export async function confirmed(text: string, context: CommandContext): Promise<boolean> {
  if (!process.stdin.isTTY) {
    throw new TalosError("failed-precondition", "confirmation is needed, but there is no terminal to ask on", {
      hint: "Add --noconfirm to go ahead without asking.",
    });
  }
  const answer = await question(`${text} (y/N): `, context.signal);
  return /^y(es)?$/i.test(answer?.trim() ?? "");
}

/**
 * Asks as terraform does: only the whole word counts. With `yes` nobody is asked. Without a terminal nothing can be asked,
 * so nothing is done.
 */
export async function approved(
  text: string,
  answer: string,
  { yes }: ApprovalFlags,
  context: CommandContext,
): Promise<boolean> {
  if (yes) return true;
  if (!context.stderr.isTerminal || !process.stdin.isTTY) {
    throw new TalosError("failed-precondition", "approval is needed, but there is no terminal to ask on", {
      hint: "Add --yes to go ahead without asking.",
    });
  }
  return (await question(`\n${text}\n  Only "${answer}" is accepted: `, context.signal)) === answer;
}
