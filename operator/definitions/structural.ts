// SPDX-License-Identifier: Apache-2.0
// JSON Schema as zod writes it, in the form that the API server takes for custom resources: structural OpenAPI.
import * as z from "zod";

export type Schema = Readonly<Record<string, unknown>>;

const unsafe = Number.MAX_SAFE_INTEGER;

/** Keywords that mean the same in both. */
const shared = ["minLength", "maxLength", "minItems", "maxItems", "pattern", "enum", "format"] as const;

export const isSchema = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const propertiesOf = (schema: Schema): Readonly<Record<string, Schema>> =>
  isSchema(schema.properties) ? (schema.properties as Readonly<Record<string, Schema>>) : {};

/** The structural form of what zod describes. */
export const structuralOf = (schema: z.ZodType): Schema =>
  structural(z.toJSONSchema(schema, { target: "draft-7", io: "input", unrepresentable: "any" }) as Schema);

/**
 * The structural form of a schema. What the API server cannot check, such as a value of two types, it lets pass: the
 * operator checks the whole spec as an environment and reports what is wrong.
 */
export function structural(schema: Schema): Schema {
  const about = pick(schema, ["description", "default"]);
  const variants = (schema.anyOf ?? schema.oneOf) as readonly Schema[] | undefined;
  if (variants !== undefined) return { ...about, ...union(variants) };
  if (schema.const !== undefined) return { ...about, type: typeof schema.const, enum: [schema.const] };
  if (schema.type === "object") return { ...about, type: "object", ...objectFields(schema) };
  if (schema.type === "array")
    return { ...about, type: "array", ...pick(schema, shared), items: structural(schema.items as Schema) };
  if (typeof schema.type !== "string") return { ...about, "x-kubernetes-preserve-unknown-fields": true };
  return { ...about, type: schema.type, ...pick(schema, shared), ...bounds(schema) };
}

function objectFields(schema: Schema): Schema {
  const { required, additionalProperties } = schema;
  if (schema.properties !== undefined) {
    const properties = Object.entries(propertiesOf(schema)).map(([name, field]) => [name, structural(field)] as const);
    const kept = Array.isArray(required) && required.length > 0 ? { required } : {};
    return { properties: Object.fromEntries(properties), ...kept };
  }
  const isFree = !isSchema(additionalProperties) || Object.keys(additionalProperties).length === 0;
  return isFree
    ? { "x-kubernetes-preserve-unknown-fields": true }
    : { additionalProperties: structural(additionalProperties) };
}

function union(variants: readonly Schema[]): Schema {
  const types = new Set(variants.map(({ type }) => type));
  if (types.size === 1 && types.has("object")) return merged(variants.map(structural));
  if (types.size === 1 && types.has("string")) return { type: "string" };
  if (types.size === 2 && types.has("integer") && types.has("string")) return { "x-kubernetes-int-or-string": true };
  return { "x-kubernetes-preserve-unknown-fields": true };
}

/**
 * One schema for what has one of several: it has the fields of all, and requires what all require. A default stays
 * where all have the same one: another one would be written into objects of a variant that has no such field.
 */
export function merged(variants: readonly Schema[]): Schema {
  const [first = {}, ...others] = variants;
  if (others.length === 0) return first;
  const same = variants.every((variant) => JSON.stringify(variant) === JSON.stringify(first));
  if (same) return first;
  const about = { ...pick(first, ["description"]), ...common(variants, "default") };
  if (variants.some(({ type }) => type !== first.type))
    return { ...about, "x-kubernetes-preserve-unknown-fields": true };
  if (first.type === "array") return { ...about, type: "array", items: merged(variants.map(itemsOf)) };
  if (first.type !== "object") return { ...about, type: first.type, ...mergedEnum(variants) };
  return { ...about, type: "object", ...mergedFields(variants) };
}

const itemsOf = ({ items }: Schema): Schema => (isSchema(items) ? items : {});

function mergedFields(variants: readonly Schema[]): Schema {
  if (variants.some(({ properties }) => properties === undefined))
    return { "x-kubernetes-preserve-unknown-fields": true };
  const names = [...new Set(variants.flatMap((variant) => Object.keys(propertiesOf(variant))))];
  const properties = names.map((name) => {
    const found = variants.map((variant) => propertiesOf(variant)[name]).filter((field) => field !== undefined);
    return [name, found.length === variants.length ? merged(found) : withDefaultInWords(merged(found))] as const;
  });
  const required = names.filter((name) =>
    variants.every((variant) => Array.isArray(variant.required) && variant.required.includes(name)),
  );
  return { properties: Object.fromEntries(properties), ...(required.length > 0 && { required }) };
}

/** For people, where the server must not fill it in. */
function withDefaultInWords({ default: standard, ...schema }: Schema): Schema {
  if (standard === undefined || typeof standard === "object") return schema;
  const words = typeof schema.description === "string" ? `${schema.description} ` : "";
  return { ...schema, description: `${words}Default: ${String(standard)}.` };
}

function mergedEnum(variants: readonly Schema[]): Schema {
  const values = variants.map((variant) => variant.enum);
  if (!values.every((list) => Array.isArray(list))) return {};
  return { enum: [...new Set(values.flat())] };
}

function common(variants: readonly Schema[], key: string): Schema {
  const [first] = variants;
  const same = variants.every((variant) => JSON.stringify(variant[key]) === JSON.stringify(first?.[key]));
  return same ? pick(first ?? {}, [key]) : {};
}

function bounds(schema: Schema): Schema {
  const limits = Object.entries(pick(schema, ["minimum", "maximum"]));
  return Object.fromEntries(limits.filter(([, limit]) => Math.abs(Number(limit)) < unsafe));
}

function pick(schema: Schema, keys: readonly string[]): Schema {
  return Object.fromEntries(keys.filter((key) => schema[key] !== undefined).map((key) => [key, schema[key]]));
}
