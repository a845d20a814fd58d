// SPDX-License-Identifier: Apache-2.0
import type { Attribute, Attributes } from "./attribute.ts";
import { objectOfAttributes } from "./attributes.ts";
import { AttributePath } from "./diagnostics.ts";
import { type Timeouts, timeoutsAttribute } from "./timeouts.ts";
import { isList, isObject, type ObjectValue, objectValue, type Type, type Value } from "./value.ts";

/** A type's attributes as Terraform sees them, the framework's own included. */
export interface Schema {
  /** Raised by one with each change that an old state does not fit. */
  readonly version: number;
  readonly description: string;
  readonly attributes: Attributes;
  readonly type: Type;
}

export interface SchemaSource {
  readonly name?: string;
  readonly version?: number;
  readonly description: string;
  readonly attributes: Attributes;
  readonly timeouts?: Timeouts;
}

const known = new WeakMap<SchemaSource, Schema>();

export function schemaOf(source: SchemaSource): Schema {
  let schema = known.get(source);
  if (schema === undefined) {
    const attributes =
      source.timeouts === undefined
        ? source.attributes
        : { ...source.attributes, timeouts: timeoutsAttribute(source.timeouts) };
    checkBlocks(attributes, source.name ?? "provider");
    schema = {
      version: source.version ?? 0,
      description: source.description,
      attributes,
      type: objectOfAttributes(attributes),
    };
    known.set(source, schema);
  }
  return schema;
}

/** Whether any of these is written as a block. A block inside an attribute is refused, so the outermost tell. */
const hasBlocks = (attributes: Attributes): boolean => Object.values(attributes).some(isBlock);

const isBlock = ({ nested }: Attribute): boolean => nested?.block !== undefined;

/**
 * A block that may be repeated and is not written is empty for Terraform, never null: what a resource leaves out is
 * filled in.
 */
export function withEmptyBlocks(attributes: Attributes, value: ObjectValue): ObjectValue {
  if (!hasBlocks(attributes)) return value;
  return mapAttributes(attributes, { planned: value, config: null, prior: null }, ({ attribute, planned }) =>
    planned === null ? emptyOf(attribute) : planned,
  );
}

function emptyOf({ nested }: Attribute): Value {
  if (nested?.block === undefined || nested.nesting === "single") return null;
  return nested.nesting === "map" ? objectValue([]) : [];
}

/** What Terraform would refuse, or read otherwise than we do, when it loads the schema: said by name. */
function checkBlocks(attributes: Attributes, where: string, inAttribute = false): void {
  for (const [name, attribute] of Object.entries(attributes)) {
    const { nested } = attribute;
    const at = `${where}.${name}`;
    if (nested === undefined) continue;
    const block = nested.block !== undefined;
    if (block && inAttribute) throw new TypeError(`${at}: a block can't stand inside an attribute`);
    if (block && attribute.mode !== "required" && attribute.mode !== "optional")
      throw new TypeError(`${at}: a block can't be computed`);
    if (block && nested.nesting !== "single" && holdsDynamic(attribute.type))
      throw new TypeError(`${at}: a block that is repeated can't hold a value of any type`);
    checkBlocks(nested.attributes, at, !block);
  }
}

function holdsDynamic(type: Type): boolean {
  if (type.kind === "object") return Object.values(type.attributes).some(holdsDynamic);
  if (type.kind === "list" || type.kind === "set" || type.kind === "map") return holdsDynamic(type.element);
  return type.kind === "dynamic" || (type.kind === "tuple" && type.elements.some(holdsDynamic));
}

/** One attribute of a planned object, with what configuration and prior state have in the same place. */
export interface Place {
  readonly attribute: Attribute;
  readonly path: AttributePath;
  readonly planned: Value;
  readonly config: Value;
  readonly prior: Value;
}

/** Rewrites every attribute of an object, from the outside in; nested ones are visited in what their parent became. */
export function mapAttributes(
  attributes: Attributes,
  values: { readonly planned: ObjectValue; readonly config: Value; readonly prior: Value },
  rewrite: (place: Place) => Value,
  path = new AttributePath(),
): ObjectValue {
  const config = isObject(values.config) ? values.config : {};
  const prior = isObject(values.prior) ? values.prior : {};
  return objectValue(
    Object.entries(attributes).map(([name, attribute]) => {
      const place: Place = {
        attribute,
        path: hasLines(attribute) ? path.block(name) : path.attribute(name),
        planned: values.planned[name] ?? null,
        config: config[name] ?? null,
        prior: prior[name] ?? null,
      };
      return [name, descend({ ...place, planned: rewrite(place) }, rewrite)];
    }),
  );
}

function descend(place: Place, rewrite: (place: Place) => Value): Value {
  const { nested } = place.attribute;
  const { planned, config, prior, path } = place;
  if (nested === undefined) return planned;
  if (nested.nesting === "single") {
    return isObject(planned) ? mapAttributes(nested.attributes, { planned, config, prior }, rewrite, path) : planned;
  }
  if (nested.nesting === "map") {
    if (!isObject(planned)) return planned;
    return objectValue(
      Object.entries(planned).map(([key, item]) => {
        if (!isObject(item)) return [key, item];
        const at = (value: Value): Value => (isObject(value) ? (value[key] ?? null) : null);
        const values = { planned: item, config: at(config), prior: at(prior) };
        return [key, mapAttributes(nested.attributes, values, rewrite, path.key(key))];
      }),
    );
  }
  if (!isList(planned)) return planned;
  return planned.map((item, index) => {
    if (!isObject(item)) return item;
    // The elements of a set have no place of their own: what was there before is not known.
    const at = (value: Value): Value => (nested.nesting === "list" && isList(value) ? (value[index] ?? null) : null);
    const own = nested.nesting === "set" ? item : at(config);
    return mapAttributes(
      nested.attributes,
      { planned: item, config: own, prior: at(prior) },
      rewrite,
      path.index(index),
    );
  });
}

/** Terraform finds a block by its place or its name; those of a set have neither. */
function hasLines({ nested }: Attribute): boolean {
  return nested?.block !== undefined && nested.nesting !== "set";
}
