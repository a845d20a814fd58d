// SPDX-License-Identifier: Apache-2.0
import type { Attributes } from "./attribute.ts";
import { objectOfAttributes } from "./attributes.ts";
import { checkBlocks } from "./block-rules.ts";
import { type Timeouts, timeoutsAttribute } from "./timeouts.ts";
import type { Type } from "./type.ts";

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
