// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../../talos/errors.ts";
import { isObject, type Json, type JsonObject } from "./expression.ts";
import { readTemplate } from "./parse.ts";
import { type Expression, elementsOf, isList, isMap, isSet, unknown, type Value, type Values } from "./values.ts";

/** A resource of a stack, or one instance of it where its block has `for_each` or `count`. */
export interface StackResource {
  readonly address: string;
  readonly type: string;
  readonly name: string;
  /** Of the instance; undefined for a block of one resource, and where only an apply knows the instances. */
  readonly key: string | undefined;
  readonly values: Values;
}

/** What is in a resource's block for Terraform itself, and never an attribute. */
const metaArgument = /^(?:\/\/|connection|count|depends_on|for_each|lifecycle|provider|provisioner)$/;

/** A count beyond it is a mistake, and no reason to run out of memory. */
const mostInstances = 100_000;

/**
 * The resources of a stack's JSON as Terraform would plan them, without Terraform, its providers or its state. What
 * another resource, a data source or a module says is unknown, and so is an expression that cannot be read.
 *
 * @throws TalosError when locals refer to each other in a circle, which Terraform refuses as well
 */
export function evaluateStack(stack: JsonObject): readonly StackResource[] {
  const scope = stackScope(bodyOf(stack.locals));
  return Object.entries(bodyOf(stack.resource)).flatMap(([type, blocks]) =>
    Object.entries(bodyOf(blocks)).flatMap(([name, block]) => instancesOf(type, name, bodyOf(block), scope)),
  );
}

function bodyOf(json: Json | undefined): JsonObject {
  return isObject(json) ? json : {};
}

/** What every expression may name. Each local is evaluated when it is asked for, and once. */
function stackScope(locals: JsonObject): Values {
  const values = new Map<string, Value>();
  const underway: string[] = [];
  const local: Values = {};
  const scope: Values = { true: true, false: false, null: null, local };
  const evaluated = (name: string, json: Json) => {
    if (underway.includes(name)) throw circle([...underway.slice(underway.indexOf(name)), name]);
    underway.push(name);
    const value = values.get(name) ?? readJson(json)(scope);
    underway.pop();
    values.set(name, value);
    return value;
  };
  for (const [name, json] of Object.entries(locals))
    Object.defineProperty(local, name, { enumerable: true, get: () => evaluated(name, json) });
  return scope;
}

function circle(names: readonly string[]): TalosError {
  return new TalosError("invalid-input", `locals refer to each other in a circle: ${names.join(" → ")}`, {
    hint: "Give one of them a value that does not depend on the others.",
  });
}

function instancesOf(type: string, name: string, block: JsonObject, scope: Values): readonly StackResource[] {
  const address = `${type}.${name}`;
  const body = readObject(Object.fromEntries(Object.entries(block).filter(([key]) => !metaArgument.test(key))));
  const instance = (key: string | undefined, index: string, variables: Values): StackResource => {
    const values = body({ ...scope, ...variables });
    return { address: `${address}${index}`, type, name, key, values: isMap(values) ? values : {} };
  };
  const count = readJson(block.count ?? null)(scope);
  if (typeof count === "number" && count >= 0 && count <= mostInstances)
    return Array.from({ length: count }, (_, index) => instance(`${index}`, `[${index}]`, { count: { index } }));
  const each = readJson(block.for_each ?? null)(scope);
  if (!isSet(each) && !isMap(each)) return [instance(undefined, "", {})];
  return elementsOf(each).map(([element, value]) => {
    const key = String(element);
    return instance(key, `[${JSON.stringify(key).replaceAll(/[$%](?=\{)/g, "$&$&")}]`, { each: { key, value } });
  });
}

/** A value of Terraform's JSON, whose texts are templates, keys among them. */
function readJson(json: Json): Expression {
  if (typeof json === "string") return readTemplate(json);
  if (isObject(json)) return readObject(json);
  if (!isList(json)) return () => json;
  const items = json.map(readJson);
  return (scope) => items.map((item) => item(scope));
}

function readObject(json: JsonObject): Expression {
  const entries = Object.entries(json).flatMap(([text, item]): readonly (readonly [Expression, Expression])[] => {
    const blocks = text === "dynamic" ? dynamicBlocks(bodyOf(item)) : [];
    if (blocks.length === 0) return [[readTemplate(text), readJson(item)]];
    return blocks.map(([name, block]) => [() => name, readDynamic(name, block)]);
  });
  return (scope) => {
    const keys = entries.map(([key]) => key(scope));
    if (!keys.every((key) => typeof key === "string")) return unknown;
    return Object.fromEntries(entries.map(([, value], index) => [keys[index], value(scope)]));
  };
}

/** `dynamic` blocks by the name of what they make; none where an attribute has that name by chance. */
function dynamicBlocks(json: JsonObject): readonly (readonly [string, JsonObject])[] {
  const blocks = Object.entries(json).map(([name, block]) => [name, bodyOf(block)] as const);
  return blocks.every(([, { for_each, content }]) => for_each !== undefined && content !== undefined) ? blocks : [];
}

function readDynamic(name: string, { for_each = null, iterator, content = null }: JsonObject): Expression {
  const each = readJson(for_each);
  const block = readJson(content);
  const variable = typeof iterator === "string" ? iterator : name;
  return (scope) => {
    const collection = each(scope);
    if (!isList(collection) && !isMap(collection)) return unknown;
    return elementsOf(collection).map(([key, value]) => block({ ...scope, [variable]: { key, value } }));
  };
}
