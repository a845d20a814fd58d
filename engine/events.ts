// SPDX-License-Identifier: Apache-2.0

import { appendFileSync } from "node:fs";
import * as z from "zod";
import { jsonIn } from "../talos/plain-text.ts";
import type { Step } from "./step.ts";

const types = [
  "observed",
  "planned",
  "step-started",
  "step-finished",
  "step-failed",
  /** A condition that is not met yet; at least every five seconds while the engine waits. */
  "waiting",
  "warning",
  "healthy",
] as const;

/** What the engine tells while it works. `message` is a sentence for a person and holds no secret. */
export interface ClusterEvent {
  readonly type: (typeof types)[number];
  readonly at: Date;
  readonly message: string;
  readonly machine?: string;
  readonly step?: Step;
  /** With `planned`: everything that will be done. */
  readonly steps?: readonly Step[];
  /** With `planned`: how many steps a later `planned` will add. @default as many as were announced before, less these */
  readonly coming?: number;
}

export type EventListener = (event: ClusterEvent) => void;

/** Names a file for events of an engine without an output of its own, such as the one in Terraform's provider. */
export const eventFileVariable = "TALOSMITH_EVENT_FILE";

/** Set for a plan that is shown only: `talosmith deploy` stops the machines of it in turn, by plans of their own. */
export const rollVariable = "TALOSMITH_ROLLS";

/** An event as it stands in the file: of steps, what tells them apart and what people read. */
export type ToldEvent = z.infer<typeof schema>;

const schema = z.object({
  at: z.coerce.date(),
  type: z.enum(types),
  message: z.string(),
  machine: z.string().optional(),
  step: z.object({ id: z.string() }).optional(),
  steps: z
    .array(z.object({ id: z.string(), sentence: z.string(), destructive: z.boolean(), machine: z.string().optional() }))
    .readonly()
    .optional(),
  /** With `planned`: how many steps a later `planned` will add; null when there will be some, and it is not known how many. */
  coming: z.number().nullable().optional(),
});

/** Appends events as lines of JSON. A missing or full file does not stop the work. */
export function eventsTo(path: string): EventListener {
  return ({ at, type, message, machine, step, steps, coming }) => {
    const told = {
      at,
      type,
      message,
      machine,
      step: step && { id: step.id },
      steps: steps?.map(({ id, sentence, destructive, machine: of }) => ({ id, sentence, destructive, machine: of })),
      coming,
    };
    try {
      appendFileSync(path, `${JSON.stringify(told)}\n`, { mode: 0o600 });
    } catch {
      return;
    }
  };
}

/** Undefined for a line that is none of ours. */
export function parseEvent(line: string): ToldEvent | undefined {
  return schema.safeParse(jsonIn(line)).data;
}

/** Something that stands in the way (`error`), or that someone should know (`warning`). */
export interface Finding {
  readonly severity: "error" | "warning";
  readonly message: string;
  readonly machine?: string;
  /** What to do about it. */
  readonly hint?: string;
}
