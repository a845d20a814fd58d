// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import { TalosError } from "../../talos/errors.ts";

const common = {
  /** Milliseconds since the epoch; the fault is over then. */
  until: z.number().exactOptional(),
  /** How often it may still strike. */
  times: z.number().int().positive().exactOptional(),
};
const milliseconds = z.number().int();
const plain = <K extends string>(kind: K) => z.strictObject({ kind: z.literal(kind), ...common });
const timed = <K extends string>(kind: K) => z.strictObject({ kind: z.literal(kind), milliseconds, ...common });

/**
 * Trouble, as data. A fault stays until it is cleared, until `until`, or until its `times` are used up.
 * - `refuse`: nothing listens (connection refused)
 * - `reset`: connections are accepted and reset at once
 * - `half-open`: connections are accepted and then silent, without FIN
 * - `delay`: every call waits `milliseconds` first
 * - `trickle`: replies leave one small piece every `milliseconds`
 * - `wrong-certificate`: the server's certificate comes from a stranger's CA
 * - `expired-certificate`: it is from the right CA, but of yesterday
 * - `clock-skew`: the machine's clock is off by `milliseconds` (certificates, time service)
 * - `reject-config`: ApplyConfiguration fails with `message`
 * - `fail`: calls to `method` fail with `code` and `message`
 * - `crash`: the machine loses power before or after it handles `method`
 * - `disk-full`: what needs the disk fails
 * - `never-back`: the next time it goes down it stays down
 * - `component-not-ready`: a component of Kubernetes on a control plane runs and never becomes ready; with `version`, only
 *   that version of it
 * - `slow-static-pods`: a pod of the control plane takes `milliseconds` to be replaced when its config changes
 * - `service-fails`: a service of Talos that does not run yet cannot start, and says `message`
 * - `volume-fails`: a volume of Talos, such as EPHEMERAL, is not made, and says `message`
 * - `bad-boot`: an upgraded system does not come up; the boot loader goes back to the previous one
 */
const schema = z.discriminatedUnion("kind", [
  plain("refuse"),
  plain("reset"),
  plain("half-open"),
  timed("delay"),
  timed("trickle"),
  timed("slow-static-pods"),
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
    /** Without v. @default every version */
    version: z.string().exactOptional(),
    ...common,
  }),
  z.strictObject({ kind: z.literal("service-fails"), service: z.string(), message: z.string(), ...common }),
  z.strictObject({ kind: z.literal("volume-fails"), volume: z.string(), message: z.string(), ...common }),
]);

export type Fault = Readonly<z.infer<typeof schema>>;
export type FaultKind = Fault["kind"];

/** Kinds that need no more than their name. */
export const plainFaults: readonly string[] = schema.options.flatMap(({ shape }) =>
  Object.keys(shape).every((key) => key === "kind" || key in common) ? [shape.kind.value] : [],
);

/** A fault as a person writes it: a kind alone, or JSON with what else it needs. */
export function parseFault(text: string): Fault {
  const parsed = schema.safeParse(text.startsWith("{") ? parseJson(text) : { kind: text });
  if (parsed.success) return parsed.data;
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
