// SPDX-License-Identifier: Apache-2.0
import { createInterface } from "node:readline";

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
