// SPDX-License-Identifier: Apache-2.0
import type { Attribute, Attributes, BlockItems, Nesting, StateOf } from "./attribute.ts";
import { objectOfAttributes } from "./attributes.ts";
import { listOf, mapOf, setOf, type Type } from "./value.ts";

interface BlockOptions<A extends Attributes> {
  /** Markdown, for the docs and the editor. */
  readonly description: string;
  /** What may stand inside: attributes, and more blocks. */
  readonly attributes: A;
  readonly deprecated?: boolean;
  /** A change anywhere inside replaces the resource. */
  readonly replaces?: boolean;
}

type CountedOptions<A extends Attributes> = BlockOptions<A> & BlockItems;

/** `network { … }`, once at most. Its value is null when it is not written. */
export function single<const A extends Attributes>(options: BlockOptions<A>): Attribute<StateOf<A>, "optional"> {
  return { ...block("single", objectOfAttributes(options.attributes), options, {}), mode: "optional" };
}

/** `rule { … }` any number of times, in order. Not written: an empty list, never null. */
export function list<const A extends Attributes>(
  options: CountedOptions<A>,
): Attribute<readonly StateOf<A>[], "required"> {
  return block("list", listOf(objectOfAttributes(options.attributes)), options, options);
}

/** `rule { … }` any number of times, in no order. Not written: empty, never null. */
export function set<const A extends Attributes>(
  options: CountedOptions<A>,
): Attribute<readonly StateOf<A>[], "required"> {
  return block("set", setOf(objectOfAttributes(options.attributes)), options, options);
}

/** `disk "name" { … }`, by name. Not written: empty, never null. */
export function map<const A extends Attributes>(
  options: BlockOptions<A>,
): Attribute<Readonly<Record<string, StateOf<A>>>, "required"> {
  return block("map", mapOf(objectOfAttributes(options.attributes)), options, {});
}

function block<T>(
  nesting: Nesting,
  type: Type,
  { description, attributes, deprecated, replaces }: BlockOptions<Attributes>,
  { min, max }: BlockItems,
): Attribute<T, "required"> {
  return {
    type,
    mode: "required",
    description,
    nested: { nesting, attributes, block: { min, max } },
    deprecated,
    replaces,
  };
}
