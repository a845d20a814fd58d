// SPDX-License-Identifier: Apache-2.0
import type { Attributes, PlanOf, StateOf } from "../attribute.ts";
import { type Diagnostic, DiagnosticError, type Diagnostics, path } from "../diagnostics.ts";
import type { CreateRequest, Operation, Resource } from "../resource.ts";
import { mapAttributes, type Schema, schemaOf, withEmptyBlocks } from "../schema.ts";
import type { Server } from "../server.ts";
import { type OperationName, timeoutOf } from "../timeouts.ts";
import { elementType, isObject, isWhollyKnown, type ObjectValue, type Value, valuesEqual } from "../value.ts";

export interface ApplyChange {
  readonly typeName: string;
  readonly prior: Value;
  /** Null: destroy. */
  readonly planned: Value;
  readonly config: Value;
  /** Kept beside the prior state. @default nothing */
  readonly remembered?: string;
}

export interface AppliedChange {
  readonly state: Value;
  /** To be kept beside it. */
  readonly remembered: string;
  readonly diagnostics: readonly Diagnostic[];
}

export async function applyResourceChange<C>(server: Server<C>, change: ApplyChange): Promise<AppliedChange> {
  const resource = server.resource(change.typeName);
  const schema = schemaOf(resource);
  const { prior, planned } = change;
  const name: OperationName = planned === null ? "delete" : prior === null ? "create" : "update";
  const source = isObject(planned) ? planned : isObject(prior) ? prior : {};
  const milliseconds = timeoutOf(name, resource.timeouts ?? {}, source.timeouts ?? null);
  let newest: Value = prior;
  let { remembered = "" } = change;
  const { result, diagnostics } = await server.run({ name, milliseconds }, async (operation) => {
    const save = (state: StateOf<Attributes>) => {
      newest = complete(schema, state, planned);
    };
    const remember = (text: string) => {
      remembered = text;
    };
    return operate(resource, operation, change, { save, remembered, remember });
  });
  if (result === undefined) return { state: newest, remembered, diagnostics: diagnostics.list };
  if (result === null) return { state: null, remembered, diagnostics: diagnostics.list };
  const state = complete(schema, result, planned);
  checkConsistency(schema, planned, state, diagnostics);
  return { state, remembered, diagnostics: diagnostics.list };
}

async function operate<C>(
  resource: Resource<Attributes, C>,
  operation: Operation<C>,
  { prior, planned, config }: ApplyChange,
  keeping: Pick<CreateRequest<Attributes, C>, "save" | "remembered" | "remember">,
): Promise<StateOf<Attributes> | null> {
  if (!isObject(planned)) {
    const { remembered } = keeping;
    await resource.delete({ ...operation, state: prior as StateOf<Attributes>, remembered });
    return null;
  }
  const wishes = { planned: planned as PlanOf<Attributes>, config: config as PlanOf<Attributes> };
  const change = { ...operation, ...wishes, ...keeping };
  if (!isObject(prior)) return resource.create(change);
  if (resource.update !== undefined) return resource.update({ ...change, prior: prior as StateOf<Attributes> });
  throw new DiagnosticError({
    summary: "Can't be updated",
    detail: `${resource.name} can only be replaced; the plan should have said so.`,
  });
}

/** The framework's own attributes (timeouts) come from the plan; write-only ones are never stored. */
function complete(schema: Schema, state: StateOf<Attributes>, planned: Value): ObjectValue {
  const whole = { ...(isObject(planned) ? planned : {}), ...(state as ObjectValue) };
  const stored = mapAttributes(schema.attributes, { planned: whole, config: null, prior: null }, (place) =>
    place.attribute.writeOnly ? null : place.planned,
  );
  return withEmptyBlocks(schema.attributes, stored);
}

/** Terraform would say the same, but blame nobody in particular. The state is kept: it is what is there. */
function checkConsistency(schema: Schema, planned: Value, state: ObjectValue, diagnostics: Diagnostics): void {
  if (!isObject(planned)) return;
  for (const [name, value] of Object.entries(planned)) {
    const now = state[name] ?? null;
    const type = elementType(schema.type, name);
    const kept = !isWhollyKnown(value) || valuesEqual(type, value, now);
    if (kept && isWhollyKnown(now)) continue;
    diagnostics.error({
      summary: "Fault in the provider",
      detail: `The attribute ${name} was ${kept ? "left unknown" : "planned otherwise"}. This is a fault of the provider; please report it.`,
      path: path(name),
    });
  }
}
