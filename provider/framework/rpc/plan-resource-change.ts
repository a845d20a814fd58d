// SPDX-License-Identifier: Apache-2.0
import type { Attributes, ConfigOf, StateOf } from "../attribute.ts";
import { AttributePath, type Diagnostic } from "../diagnostics.ts";
import type { PlanResult } from "../resource.ts";
import { mapAttributes, type Schema, schemaOf } from "../schema.ts";
import type { Server } from "../server.ts";
import { isObject, type ObjectValue, unknown, type Value, valuesEqual } from "../value.ts";
import { isOnlyMoved } from "./read-state.ts";

export interface PlanChange {
  readonly typeName: string;
  readonly prior: Value;
  /** The configuration merged with the prior state by Terraform. Null: destroy. */
  readonly proposed: Value;
  readonly config: Value;
  /** Kept beside the prior state. @default nothing */
  readonly remembered?: string;
}

export interface PlannedChange {
  readonly planned: Value;
  readonly replace: readonly AttributePath[];
  /** Better planned later, where the core can. */
  readonly deferred: boolean;
  readonly diagnostics: readonly Diagnostic[];
}

export async function planResourceChange<C>(server: Server<C>, change: PlanChange): Promise<PlannedChange> {
  const resource = server.resource(change.typeName);
  const schema = schemaOf(resource);
  const { prior, proposed, config, remembered = "" } = change;
  if (isOnlyMoved(remembered))
    return { planned: prior, replace: [], deferred: false, diagnostics: [notRead(change.typeName)] };
  if (!isObject(proposed)) {
    const { diagnostics } = await server.run({ name: "plan", milliseconds: undefined }, async (operation) => {
      if (!isObject(prior)) return;
      await resource.planDelete?.({ ...operation, state: prior as StateOf<Attributes>, remembered });
    });
    return { planned: null, replace: [], deferred: false, diagnostics: diagnostics.list };
  }
  const merged = fillDefaults(schema, { planned: proposed, config, prior });
  const changed = !valuesEqual(schema.type, merged, prior);
  const planned = changed ? openComputed(schema, { planned: merged, config, prior }) : merged;
  const { result, diagnostics } = await server.run({ name: "plan", milliseconds: undefined }, async (operation) => {
    const own = await resource.plan?.({
      ...operation,
      prior: prior as StateOf<Attributes> | null,
      config: config as ConfigOf<Attributes>,
      planned: planned as ConfigOf<Attributes>,
      changed,
      remembered,
    });
    return {
      planned: overlay(schema, planned, config, own?.values),
      replace: own?.replace ?? [],
      deferred: own?.deferred,
    };
  });
  const final = result?.planned ?? planned;
  return {
    planned: final,
    replace: prior === null ? [] : [...replacedBy(schema, prior, final), ...(result?.replace ?? [])],
    deferred: result?.deferred ?? false,
    diagnostics: diagnostics.list,
  };
}

function notRead(typeName: string): Diagnostic {
  return {
    severity: "error",
    summary: "A moved resource was not read",
    detail: `What ${typeName} is after its move is found out by a refresh. Plan without -refresh=false.`,
  };
}

type Values = { readonly planned: ObjectValue; readonly config: Value; readonly prior: Value };

/** Defaults where the configuration is silent; write-only values are never planned. */
function fillDefaults(schema: Schema, values: Values): ObjectValue {
  return mapAttributes(schema.attributes, values, ({ attribute, planned, config }) => {
    if (attribute.writeOnly) return null;
    return config === null && attribute.default !== undefined ? (attribute.default as Value) : planned;
  });
}

/** Where something changes, what the provider computes may change too, unless it is said to be stable. */
function openComputed(schema: Schema, values: Values): ObjectValue {
  return mapAttributes(schema.attributes, values, ({ attribute, planned, config, prior }) => {
    const computed = attribute.mode === "computed" || attribute.mode === "defaulted";
    if (!computed || config !== null || attribute.default !== undefined) return planned;
    return attribute.stable && prior !== null ? prior : unknown;
  });
}

/** The resource's own plan over the framework's. It may not contradict the configuration. */
function overlay(
  schema: Schema,
  planned: ObjectValue,
  config: Value,
  own: PlanResult<Attributes>["values"] = {},
): ObjectValue {
  const configured = isObject(config) ? config : {};
  for (const name of Object.keys(own)) {
    const mode = schema.attributes[name]?.mode;
    const free = mode === "computed" || (mode === "defaulted" && (configured[name] ?? null) === null);
    if (!free) throw new Error(`the plan of a resource sets ${name}, which is the configuration's to say`);
  }
  return { ...planned, ...(own as ObjectValue) };
}

function replacedBy(schema: Schema, prior: Value, planned: ObjectValue): AttributePath[] {
  if (!isObject(prior)) return [];
  return Object.entries(schema.attributes)
    .filter(([, attribute]) => attribute.replaces)
    .filter(([name, attribute]) => !valuesEqual(attribute.type, prior[name] ?? null, planned[name] ?? null))
    .map(([name]) => new AttributePath().attribute(name));
}
