// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";

/** How a run that applies a plan has ended: the last line of the file in which it tells what it does. */
export type RunEnd = z.infer<typeof schema>["end"];

const schema = z.object({ end: z.object({ outcome: z.enum(["done", "failed", "stopped"]), at: z.coerce.date() }) });

/** Begins a line of its own: who was killed may have left half a line before it. */
export function endLine(end: RunEnd): string {
  return `\n${JSON.stringify({ end })}\n`;
}

/** Undefined for a line that tells of no end. */
export function parseEnd(line: string): RunEnd | undefined {
  try {
    return schema.safeParse(JSON.parse(line)).data?.end;
  } catch {
    return undefined;
  }
}
