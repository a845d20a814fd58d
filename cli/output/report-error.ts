// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../../talos/errors.ts";
import type { CommandContext } from "../context.ts";

/** A user's fault or the world's is told in a sentence and a hint; only our own fault shows its stack. */
export function reportError(error: unknown, context: CommandContext): void {
  if (context.signal.aborted) {
    context.stderr.write("Stopped. Run the same command again to go on from here.\n");
    context.exit(130);
    return;
  }
  const known = TalosError.from(error);
  const about = known.node === undefined || known.message.includes(known.node) ? "" : `${known.node}: `;
  context.stderr.write(`Error: ${about}${known.message}\n`);
  if (known.hint !== undefined) context.stderr.write(`  ${known.hint}\n`);
  // What a machine calls its own internal error is not ours.
  if (known.code === "internal" && known.node === undefined && known.cause instanceof Error) {
    context.stderr.write(`\nThis is a fault of talosmith. Please report it with these lines:\n${known.cause.stack}\n`);
  }
  context.exit(1);
}
