// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import type { Conditions } from "./condition.ts";

const condition = z.object({
  type: z.string(),
  status: z.enum(["True", "False", "Unknown"]),
  reason: z.string(),
  message: z.string(),
  lastTransitionTime: z.iso.datetime(),
});

const schema = z.object({
  v: z.literal(1),
  cluster: z.array(condition),
  machines: z.record(z.string(), z.array(condition)),
});

export function encodeConditions(conditions: Conditions): string {
  return `${JSON.stringify({ v: 1, ...conditions }, undefined, 2)}\n`;
}

/** Undefined when the text is no record: it holds nothing but times since when, which then begin anew. */
export function parseConditions(text: string): Conditions | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return undefined;
  }
  const parsed = schema.safeParse(json);
  return parsed.success ? { cluster: parsed.data.cluster, machines: parsed.data.machines } : undefined;
}
