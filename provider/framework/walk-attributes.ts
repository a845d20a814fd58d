// SPDX-License-Identifier: Apache-2.0
import type { Attribute, Attributes } from "./attribute.ts";
import { AttributePath } from "./attribute-path.ts";
import { isList, isObject, type ObjectValue, objectValue, type Value } from "./value.ts";

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
