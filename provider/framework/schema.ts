// SPDX-License-Identifier: Apache-2.0
import type { Attribute, Attributes } from "./attribute.ts";
import { objectOfAttributes } from "./attributes.ts";
import { type Timeouts, timeoutsAttribute } from "./timeouts.ts";
import type { Type } from "./type.ts";
import { type ObjectValue, objectValue, type Value } from "./value.ts";
import { mapAttributes } from "./walk-attributes.ts";

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
