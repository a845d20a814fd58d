// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import { TalosError } from "../../talos/errors.ts";

const word = z.string().min(1).max(100);
const machineWork = <K extends string>(kind: K) => z.strictObject({ kind: z.literal(kind), machine: word });

const action = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("apply") }),
  z.strictObject({ kind: z.literal("destroy") }),
  z.strictObject({
    kind: z.literal("upgrade"),
    talosVersion: z
      .string()
      .regex(/^v\d+\.\d+\.\d+$/, "expected a version such as v1.13.9")
      .exactOptional(),
    kubernetesVersion: z
      .string()
      .regex(/^\d+\.\d+\.\d+$/, "expected a version such as 1.36.3")
      .exactOptional(),
  }),
  z.strictObject({ kind: z.literal("scale"), pool: word, count: z.int().min(0).max(5_000) }),
  z.strictObject({ kind: z.literal("backup") }),
  z.strictObject({ kind: z.literal("drill"), backup: word }),
  machineWork("reboot"),
  machineWork("cordon"),
  machineWork("uncordon"),
  machineWork("drain"),
]);

const requests = {
  plan: z.strictObject({ action }),
  operation: z.strictObject({
    action,
    confirm: z.string().max(200).exactOptional(),
    plan: z.string().max(64).exactOptional(),
  }),
  disturbance: z.union([
    z.strictObject({ power: z.boolean() }),
    z.strictObject({ fault: z.string().max(500).nullable() }),
  ]),
  cluster: z.strictObject({ name: word, controlPlanes: z.int().min(1).max(7), workers: z.int().min(0).max(100) }),
};

type Requests = { readonly [K in keyof typeof requests]: z.output<(typeof requests)[K]> };

/** The body of a request, or an error that tells what is wrong with it. */
export async function readRequest<K extends keyof Requests>(
  kind: K,
  request: { json(): Promise<unknown> },
): Promise<Requests[K]> {
  const body = await request.json().catch(() => undefined);
  const parsed = requests[kind].safeParse(body);
  if (parsed.success) return parsed.data as Requests[K];
  throw new TalosError("invalid-input", z.prettifyError(parsed.error));
}
