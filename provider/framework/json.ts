// SPDX-License-Identifier: Apache-2.0
import { type NumberValue, parseNumber } from "./decimal.ts";
import { Dynamic, elementType, isNumber, isObject, objectValue, type Type, typeFromJson, type Value } from "./value.ts";

/** JSON with numbers that lost nothing. */
export type Json = null | boolean | string | NumberValue | readonly Json[] | { readonly [name: string]: Json };

/** Parses JSON like `JSON.parse`, but a number of 30 digits keeps them: a state must come back as it was written. */
export function parseJson(text: string): Json {
  let at = 0;
  const fail = (): never => {
    throw new SyntaxError(
      `unexpected ${at < text.length ? JSON.stringify(text[at]) : "end"} at position ${at} of JSON`,
    );
  };
  const space = () => {
    while (at < text.length && " \t\r\n".includes(text.charAt(at))) at += 1;
  };
  const take = (character: string): boolean => {
    space();
    if (text[at] !== character) return false;
    at += 1;
    return true;
  };
  const literal = <T>(word: string, value: T): T => {
    if (!text.startsWith(word, at)) fail();
    at += word.length;
    return value;
  };
  const string = (): string => {
    const start = at;
    at += 1;
    for (;;) {
      const quote = text.indexOf('"', at);
      if (quote < 0) return fail();
      at = quote + 1;
      let slashes = 0;
      while (text[quote - 1 - slashes] === "\\") slashes += 1;
      if (slashes % 2 === 0) return JSON.parse(text.slice(start, at));
    }
  };
  const value = (depth: number): Json => {
    if (depth > 500) throw new SyntaxError("JSON is nested too deep");
    space();
    const character = text[at];
    if (character === '"') return string();
    if (character === "t") return literal("true", true);
    if (character === "f") return literal("false", false);
    if (character === "n") return literal("null", null);
    if (take("[")) {
      const items: Json[] = [];
      if (take("]")) return items;
      do items.push(value(depth + 1));
      while (take(","));
      if (!take("]")) fail();
      return items;
    }
    if (take("{")) {
      const object: Record<string, Json> = Object.create(null);
      if (take("}")) return object;
      do {
        space();
        if (text[at] !== '"') fail();
        const name = string();
        if (!take(":")) fail();
        object[name] = value(depth + 1);
      } while (take(","));
      if (!take("}")) fail();
      return object;
    }
    const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
    number.lastIndex = at;
    const match = number.exec(text);
    if (match === null) return fail();
    at = number.lastIndex;
    return parseNumber(match[0]);
  };
  const result = value(0);
  space();
  if (at < text.length) fail();
  return result;
}

/** A state's JSON as a value of `type`. Attributes it lacks are null, attributes the type lacks are dropped. */
export function valueFromJson(type: Type, json: Json, where = "state"): Value {
  const wrong = (): never => {
    throw new TypeError(`${where}: expected ${type.kind}`);
  };
  if (json === null) return null;
  switch (type.kind) {
    case "string":
      return typeof json === "string" ? json : wrong();
    case "bool":
      return typeof json === "boolean" ? json : wrong();
    case "number":
      if (typeof json === "string") return parseNumber(json);
      return isNumber(json as Value) ? (json as NumberValue) : wrong();
    case "dynamic": {
      if (!isObject(json as Value)) return wrong();
      const { type: inner, value } = json as Readonly<Record<string, Json>>;
      const own = typeFromJson(inner);
      return new Dynamic(own, valueFromJson(own, value ?? null, where));
    }
    case "list":
    case "set":
    case "tuple":
      if (!Array.isArray(json)) return wrong();
      return json.map((item: Json, index) => valueFromJson(elementType(type, index), item, `${where}[${index}]`));
    case "map":
      if (!isObject(json as Value)) return wrong();
      return objectValue(
        Object.entries(json).map(([name, item]) => [name, valueFromJson(type.element, item, `${where}.${name}`)]),
      );
    case "object": {
      if (!isObject(json as Value)) return wrong();
      const fields = json as Readonly<Record<string, Json>>;
      return objectValue(
        Object.entries(type.attributes).map(([name, inner]) => [
          name,
          valueFromJson(inner, fields[name] ?? null, `${where}.${name}`),
        ]),
      );
    }
  }
}
