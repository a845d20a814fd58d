// SPDX-License-Identifier: Apache-2.0
import type { Attribute, Attributes, Mode, Nesting, StateOf, Validator } from "./attribute.ts";
import type { NumberValue } from "./decimal.ts";
import { boolType, listOf, mapOf, numberType, objectOf, setOf, stringType, type Type } from "./value.ts";

type Options<T> = Omit<Attribute<T>, "type" | "nested" | "mode" | "description">;

type ListOf<A extends Attributes> = readonly StateOf<A>[];
type MapOf<A extends Attributes> = Readonly<Record<string, StateOf<A>>>;

/** The attributes of one mode. Each begins with its description: Markdown, for the docs and the editor. */
function ofMode<const M extends Mode>(mode: M) {
  const simple =
    <T>(type: Type) =>
    (description: string, options: Options<T> = {}): Attribute<T, M> => ({ type, mode, description, ...options });
  const nested = <T>(
    nesting: Nesting,
    type: Type,
    attributes: Attributes,
    description: string,
    options?: Options<T>,
  ) => ({
    ...simple<T>(type)(description, options),
    nested: { nesting, attributes },
  });
  return {
    string: simple<string>(stringType),
    bool: simple<boolean>(boolType),
    /** Any number Terraform can hold, without loss. */
    number: simple<NumberValue>(numberType),
    /** A whole number that JavaScript holds exactly. */
    integer: (description: string, { validators = [], ...options }: Options<number> = {}) =>
      simple<number>(numberType)(description, { ...options, validators: [checkInteger, ...validators] }),
    stringList: simple<readonly string[]>(listOf(stringType)),
    stringSet: simple<readonly string[]>(setOf(stringType)),
    stringMap: simple<Readonly<Record<string, string>>>(mapOf(stringType)),
    stringListMap: simple<Readonly<Record<string, readonly string[]>>>(mapOf(listOf(stringType))),
    nestedObject: <const A extends Attributes>(description: string, attributes: A, options?: Options<StateOf<A>>) =>
      nested<StateOf<A>>("single", objectOfAttributes(attributes), attributes, description, options),
    nestedList: <const A extends Attributes>(description: string, attributes: A, options?: Options<ListOf<A>>) =>
      nested<ListOf<A>>("list", listOf(objectOfAttributes(attributes)), attributes, description, options),
    nestedMap: <const A extends Attributes>(description: string, attributes: A, options?: Options<MapOf<A>>) =>
      nested<MapOf<A>>("map", mapOf(objectOfAttributes(attributes)), attributes, description, options),
  };
}

export const required = ofMode("required");
export const optional = ofMode("optional");
export const computed = ofMode("computed");
export const defaulted = ofMode("defaulted");

const checkInteger: Validator<number> = (value, path, diagnostics) => {
  if (Number.isSafeInteger(value)) return;
  const detail = `Found ${value}; expected a whole number.`;
  diagnostics.error({ summary: "Not a whole number", detail, path });
};

/** The object type that a set of attributes describes. */
export function objectOfAttributes(attributes: Attributes): Type {
  return objectOf(Object.fromEntries(Object.entries(attributes).map(([name, attribute]) => [name, attribute.type])));
}
