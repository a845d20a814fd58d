// SPDX-License-Identifier: Apache-2.0
import { createInterface } from "node:readline";
import type { Environment } from "../model/index.ts";
import { TalosError } from "../talos/errors.ts";
import type { CommandContext } from "./context.ts";

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
 * so nothing is done. After a no the command ends with exit code 1.
 */
export async function approved(
  text: string,
  answer: string,
  { yes }: ApprovalFlags,
  context: CommandContext,
): Promise<boolean> {
  if (yes) return true;
  requireAnswer({ yes }, context);
  if ((await question(`\n${text}\n  Only "${answer}" is accepted: `, context.signal)) === answer) return true;
  context.stderr.write("Nothing was changed.\n");
  context.exit(1);
  return false;
}

/** Throws where `approved` would, because there is no terminal to ask on: before work whose outcome needs an answer. */
export function requireAnswer({ yes }: ApprovalFlags, context: CommandContext): void {
  if (yes || (context.stderr.isTerminal && process.stdin.isTTY)) return;
  throw new TalosError("failed-precondition", "approval is needed, but there is no terminal to ask on", {
    hint: "Add --yes to go ahead without asking.",
  });
}

/** The same for a change of an environment: its name is the answer. Simulated machines hold nothing worth a question. */
export function approvedFor(
  { name, kind }: Pick<Environment, "name" | "kind">,
  text: string,
  { yes }: ApprovalFlags,
  context: CommandContext,
): Promise<boolean> {
  return approved(text, name, { yes: yes || kind === "simulated" }, context);
}

export interface Terminal {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  /** What Ctrl-C does: while a line is read, it comes as a key and not as a signal. */
  interrupt(): void;
}

const processTerminal: Terminal = {
  input: process.stdin,
  output: process.stderr,
  interrupt: () => void process.kill(process.pid, "SIGINT"),
};

/** A person's answer, or undefined where they end the input instead of answering (Ctrl-D). Throws when the signal fires. */
export function question(
  text: string,
  signal: AbortSignal,
  { input, output, interrupt }: Terminal = processTerminal,
): Promise<string | undefined> {
  const prompt = createInterface({ input, output });
  let ended = () => {};
  const answer = new Promise<string | undefined>((resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    // Who does not answer leaves the cursor behind the question.
    const unanswered = (next: () => void) => () => {
      output.write("\n");
      next();
    };
    prompt.once("SIGINT", unanswered(interrupt));
    ended = unanswered(() => resolve(undefined));
    prompt.once("close", ended);
    prompt.once("line", resolve);
    prompt.setPrompt(text);
    prompt.prompt();
  });
  // Only ours: readline itself listens for its end, to let go of the keys.
  return answer.finally(() => prompt.off("close", ended).close());
}
