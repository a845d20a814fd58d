// SPDX-License-Identifier: Apache-2.0
import type { CommandContext } from "../context.ts";
import { jsonLine } from "./table.ts";

/** What a command with --json has done: for programs a line of JSON on stdout, for people a sentence. */
export function report(
  context: CommandContext,
  { json }: { readonly json: boolean },
  data: Readonly<Record<string, unknown>>,
  sentence: string,
): void {
  if (json) context.stdout.write(jsonLine({ v: 1, ...data }));
  else context.stderr.write(`${sentence}\n`);
}
