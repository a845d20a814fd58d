// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import { TalosError } from "../../talos/errors.ts";
import type { Fault } from "../machine/fault.ts";

const common = { until: z.number().optional(), times: z.number().int().positive().optional() };
const milliseconds = z.number().int();
const plain = <K extends string>(kind: K) => z.strictObject({ kind: z.literal(kind), ...common });
const timed = <K extends string>(kind: K) => z.strictObject({ kind: z.literal(kind), milliseconds, ...common });

const schema = z.discriminatedUnion("kind", [
  plain("refuse"),
  plain("reset"),
  plain("half-open"),
  timed("delay"),
  timed("trickle"),
  plain("wrong-certificate"),
  plain("expired-certificate"),
  timed("clock-skew"),
  z.strictObject({ kind: z.literal("reject-config"), message: z.string(), ...common }),
  z.strictObject({ kind: z.literal("fail"), method: z.string(), code: z.string(), message: z.string(), ...common }),
  z.strictObject({ kind: z.literal("crash"), method: z.string(), when: z.enum(["before", "after"]), ...common }),
  plain("disk-full"),
  plain("never-back"),
  plain("bad-boot"),
  z.strictObject({
    kind: z.literal("component-not-ready"),
    component: z.enum(["kube-apiserver", "kube-controller-manager", "kube-scheduler"]),
    version: z.string().optional(),
    ...common,
  }),
]);

/** Kinds that need no more than their name. */
export const plainFaults: readonly string[] = schema.options.flatMap(({ shape }) =>
  Object.keys(shape).every((key) => key === "kind" || key in common) ? [shape.kind.value] : [],
);

/** A fault as a person writes it: a kind alone, or JSON with what else it needs. */
export function parseFault(text: string): Fault {
  const parsed = schema.safeParse(text.startsWith("{") ? parseJson(text) : { kind: text });
  if (parsed.success) return parsed.data as Fault;
  const kinds = schema.options.map(({ shape }) => shape.kind.value).join(", ");
  throw new TalosError("invalid-input", `not a fault: ${text}\n${z.prettifyError(parsed.error)}`, {
    hint: `Kinds are ${kinds}. One that needs more is written as JSON: {"kind":"delay","milliseconds":500,"times":3}`,
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
