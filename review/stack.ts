// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import { evaluateStack, type JsonObject, type StackResource, unknown, type Value } from "../constructs/index.ts";
import { TalosError } from "../talos/errors.ts";
import type { Plan, Values } from "./plan.ts";

const byName = z.record(z.string(), z.record(z.string(), z.unknown()));
const stackFile = z.object({ resource: z.record(z.string(), byName).default({}) });

/**
 * What the first apply of a generated stack makes, read from its JSON alone: without Terraform, its providers or an
 * account. A block whose instances only an apply knows, such as the images of libvirt, counts as one resource.
 */
export function planOfStack(text: string, file: string): Plan {
  return {
    changes: readStack(text, file).map(({ address, type, values }) => ({
      address,
      type,
      action: "create",
      before: null,
      after: knownValues(values),
      unknown: Object.fromEntries(
        Object.entries(values).flatMap(([key, value]) => (value === unknown ? [[key, true]] : [])),
      ),
      replacedFor: [],
    })),
    drifted: [],
    before: [],
    basis: "stack",
    complete: true,
    errored: false,
  };
}

function readStack(text: string, file: string): readonly StackResource[] {
  const refused = (reason: string, hint = "Write it again with `talosmith synth`.", cause?: unknown) =>
    new TalosError("invalid-input", `${file}: ${reason}`, { hint, cause });
  let stack: unknown;
  try {
    stack = JSON.parse(text);
  } catch (cause) {
    throw refused("this is not JSON", undefined, cause);
  }
  const [issue] = stackFile.safeParse(stack).error?.issues ?? [];
  if (issue !== undefined) throw refused(`${issue.path.join(".")}: ${issue.message}`);
  try {
    return evaluateStack(stack as JsonObject);
  } catch (cause) {
    throw cause instanceof TalosError ? refused(cause.message, cause.hint, cause) : cause;
  }
}

/** Without what is known only after the apply, as Terraform leaves it out of a plan's values. */
function knownValues(values: { readonly [name: string]: Value }): Values {
  return Object.fromEntries(
    Object.entries(values).flatMap(([key, value]) => (value === unknown ? [] : [[key, known(value)]])),
  );
}

function known(value: Value): unknown {
  if (value === unknown) return null;
  if (Array.isArray(value)) return value.map(known);
  return typeof value === "object" && value !== null ? knownValues(value as { readonly [name: string]: Value }) : value;
}
