// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../../talos/errors.ts";
import { attempt, elementsOf, evaluate, type Scope } from "./evaluate.ts";
import type { Json, JsonObject } from "./expression.ts";
import { isList, isMap, isSet, toNumber, toText, unknown, type Value } from "./functions.ts";
import { type Expression, parseTemplate } from "./parse.ts";

/** A resource of a stack, or one instance of it where its block has `for_each` or `count`. */
export interface StackResource {
  readonly address: string;
  readonly type: string;
  readonly name: string;
  /** Of the instance; undefined for a block of one resource, and where only an apply knows the instances. */
  readonly key: string | undefined;
  readonly values: { readonly [name: string]: Value };
}

/** What is in a resource's block for Terraform itself, and never an attribute. */
const metaArguments: ReadonlySet<string> = new Set([
  "//",
  "connection",
  "count",
  "depends_on",
  "for_each",
  "lifecycle",
  "provider",
  "provisioner",
]);

/** A count beyond it is a mistake, and no reason to run out of memory. */
const mostInstances = 100_000;

/**
 * The resources of a stack's JSON as Terraform would plan them, without Terraform, its providers or its state. What
 * another resource, a data source or a module says is unknown, and so is an expression that cannot be read.
 *
 * @throws TalosError when locals refer to each other in a circle, which Terraform refuses as well
 */
export function evaluateStack(stack: JsonObject): readonly StackResource[] {
  const scope: Scope = { variables: {}, stack: stackScope(bodyOf(stack.locals)) };
  return Object.entries(bodyOf(stack.resource)).flatMap(([type, blocks]) =>
    Object.entries(bodyOf(blocks)).flatMap(([name, block]) => instancesOf(type, name, bodyOf(block), scope)),
  );
}

function bodyOf(json: Json | undefined): JsonObject {
  return typeof json === "object" && json !== null && !Array.isArray(json) ? (json as JsonObject) : {};
}

/** Locals are evaluated when one is asked for, and once; a text that stands in many instances is read once. */
function stackScope(locals: JsonObject): Scope["stack"] {
  const values = new Map<string, Value>();
  const parsed = new Map<string, Expression>();
  const underway: string[] = [];
  const stack: Scope["stack"] = {
    local(name) {
      const json = Object.hasOwn(locals, name) ? locals[name] : undefined;
      if (json === undefined) return unknown;
      if (underway.includes(name)) throw circle([...underway.slice(underway.indexOf(name)), name]);
      underway.push(name);
      const value = values.get(name) ?? evaluateJson(json, { variables: {}, stack });
      underway.pop();
      values.set(name, value);
      return value;
    },
    parse(text) {
      const expression = parsed.get(text) ?? parseTemplate(text);
      parsed.set(text, expression);
      return expression;
    },
  };
  return stack;
}

function circle(names: readonly string[]): TalosError {
  return new TalosError("invalid-input", `locals refer to each other in a circle: ${names.join(" → ")}`, {
    hint: "Give one of them a value that does not depend on the others.",
  });
}

function instancesOf(type: string, name: string, block: JsonObject, scope: Scope): readonly StackResource[] {
  const address = `${type}.${name}`;
  const body = Object.fromEntries(Object.entries(block).filter(([key]) => !metaArguments.has(key)));
  const instance = (key: string | undefined, index: string, variables: Scope["variables"]): StackResource => {
    const values = evaluateObject(body, { ...scope, variables });
    return { address: `${address}${index}`, type, name, key, values: isMap(values) ? values : {} };
  };
  const count = attempt(() => toNumber(evaluateJson(block.count ?? null, scope)));
  if (typeof count === "number" && count >= 0 && count <= mostInstances)
    return Array.from({ length: count }, (_, index) => instance(`${index}`, `[${index}]`, { count: { index } }));
  const each = evaluateJson(block.for_each ?? null, scope);
  const elements = isSet(each) || isMap(each) ? elementsOf(each) : undefined;
  if (elements === undefined) return [instance(undefined, "", {})];
  return elements.map(([element, value]) => {
    const key = toText(element);
    return instance(key, `[${JSON.stringify(key).replaceAll(/[$%](?=\{)/g, "$&$&")}]`, { each: { key, value } });
  });
}

/** A value of Terraform's JSON, whose texts are templates, keys among them. */
function evaluateJson(json: Json, scope: Scope): Value {
  if (typeof json === "string") return evaluateText(json, scope);
  if (isJsonList(json)) return json.map((item) => evaluateJson(item, scope));
  return typeof json === "object" && json !== null ? evaluateObject(json, scope) : json;
}

function isJsonList(json: Json): json is readonly Json[] {
  return Array.isArray(json);
}

/** Terraform would refuse a stack with an error in it; the rest of it is read all the same. */
function evaluateText(text: string, scope: Scope): Value {
  const value = attempt(() => evaluate(scope.stack.parse(text), scope));
  return value === undefined ? unknown : value;
}

function evaluateObject(json: JsonObject, scope: Scope): Value {
  const entries: (readonly [string, Value])[] = [];
  for (const [text, item] of Object.entries(json)) {
    const blocks = text === "dynamic" ? dynamicBlocks(bodyOf(item)) : [];
    for (const [name, block] of blocks) entries.push([name, evaluateDynamic(name, block, scope)]);
    if (blocks.length > 0) continue;
    const key = evaluateText(text, scope);
    if (typeof key !== "string") return unknown;
    entries.push([key, evaluateJson(item, scope)]);
  }
  return Object.fromEntries(entries);
}

/** `dynamic` blocks by the name of what they make; none where an attribute has that name by chance. */
function dynamicBlocks(json: JsonObject): readonly (readonly [string, JsonObject])[] {
  const blocks = Object.entries(json).map(([name, block]) => [name, bodyOf(block)] as const);
  return blocks.every(([, { for_each, content }]) => for_each !== undefined && content !== undefined) ? blocks : [];
}

function evaluateDynamic(name: string, { for_each, iterator, content }: JsonObject, scope: Scope): Value {
  const each = evaluateJson(for_each ?? null, scope);
  const variable = typeof iterator === "string" ? iterator : name;
  const elements = isList(each) || isMap(each) ? elementsOf(each) : undefined;
  if (elements === undefined) return unknown;
  return elements.map(([key, value]) =>
    evaluateJson(content ?? null, { ...scope, variables: { ...scope.variables, [variable]: { key, value } } }),
  );
}
