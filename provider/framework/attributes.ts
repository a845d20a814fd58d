// SPDX-License-Identifier: Apache-2.0
import type { Attribute, Attributes, Mode, Nesting, StateOf } from "./attribute.ts";
import type { NumberValue } from "./decimal.ts";
import { boolType, listOf, mapOf, numberType, objectOf, setOf, stringType, type Type } from "./value.ts";

type Options<T, M extends Mode> = Omit<Attribute<T, M>, "type" | "nested">;
type NestedOptions<T, M extends Mode, A extends Attributes> = Options<T, M> & { readonly attributes: A };

const simple =
  <T>(type: Type) =>
  <const M extends Mode>(options: Options<T, M>): Attribute<T, M> => ({ type, ...options });

export const string = simple<string>(stringType);
export const bool = simple<boolean>(boolType);
/** Any number Terraform can hold, without loss. */
export const number = simple<NumberValue>(numberType);
export const stringList = simple<readonly string[]>(listOf(stringType));
export const stringSet = simple<readonly string[]>(setOf(stringType));
export const stringMap = simple<Readonly<Record<string, string>>>(mapOf(stringType));

export const stringListMap = simple<Readonly<Record<string, readonly string[]>>>(mapOf(listOf(stringType)));

/** A whole number that JavaScript holds exactly. */
export function integer<const M extends Mode>(options: Options<number, M>): Attribute<number, M> {
  return {
    type: numberType,
    ...options,
    validators: [
      (value, path, diagnostics) => {
        if (!Number.isSafeInteger(value))
          diagnostics.error({
            summary: "Not a whole number",
            detail: `Found ${value}; expected a whole number.`,
            path,
          });
      },
      ...(options.validators ?? []),
    ],
  };
}

export function nestedObject<const M extends Mode, const A extends Attributes>(
  options: NestedOptions<StateOf<A>, M, A>,
): Attribute<StateOf<A>, M> {
  return nested("single", objectOfAttributes(options.attributes), options);
}

export function nestedList<const M extends Mode, const A extends Attributes>(
  options: NestedOptions<readonly StateOf<A>[], M, A>,
): Attribute<readonly StateOf<A>[], M> {
  return nested("list", listOf(objectOfAttributes(options.attributes)), options);
}

export function nestedMap<const M extends Mode, const A extends Attributes>(
  options: NestedOptions<Readonly<Record<string, StateOf<A>>>, M, A>,
): Attribute<Readonly<Record<string, StateOf<A>>>, M> {
  return nested("map", mapOf(objectOfAttributes(options.attributes)), options);
}

function nested<T, M extends Mode, A extends Attributes>(
  nesting: Nesting,
  type: Type,
  { attributes, ...options }: NestedOptions<T, M, A>,
): Attribute<T, M> {
  return { ...options, type, nested: { nesting, attributes } };
}

/** The object type that a set of attributes describes. */
export function objectOfAttributes(attributes: Attributes): Type {
  return objectOf(Object.fromEntries(Object.entries(attributes).map(([name, attribute]) => [name, attribute.type])));
}
