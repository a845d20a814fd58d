// SPDX-License-Identifier: Apache-2.0
import { appendFileSync } from "node:fs";
import * as z from "zod";
import type { ClusterEvent, EventListener } from "./events.ts";

/** Names a file that somebody follows: whoever runs the engine out of sight, as Terraform's provider does, tells there. */
export const eventFileVariable = "TALOSMITH_EVENT_FILE";

export type ToldEvent = Pick<ClusterEvent, "type" | "message" | "machine">;

const schema = z.object({
  type: z.enum([
    "observed",
    "planned",
    "step-started",
    "step-finished",
    "step-failed",
    "waiting",
    "warning",
    "healthy",
  ]) satisfies z.ZodType<ClusterEvent["type"]>,
  message: z.string(),
  machine: z.string().optional(),
});

/** Appends events as lines of JSON. A file that is gone or full keeps nobody from working. */
export function eventsTo(path: string): EventListener {
  return ({ type, message, machine }) => {
    try {
      appendFileSync(path, `${JSON.stringify({ type, message, machine })}\n`, { mode: 0o600 });
    } catch {
      return;
    }
  };
}

/** Undefined for a line that is none of ours. */
export function parseEvent(line: string): ToldEvent | undefined {
  try {
    const { data } = schema.safeParse(JSON.parse(line));
    if (data === undefined) return undefined;
    const { type, message, machine } = data;
    return { type, message, ...(machine === undefined ? {} : { machine }) };
  } catch {
    return undefined;
  }
}
