// SPDX-License-Identifier: Apache-2.0

export type Data = { readonly [key: string]: unknown };

export function isData(value: unknown): value is Data {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Mappings are merged key by key, everything else is replaced; null takes the base's value away. */
function mergeDeep(base: Data, over: Data): Data {
  const merged: { [key: string]: unknown } = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const below = merged[key];
    if (value === null) delete merged[key];
    else merged[key] = isData(value) && isData(below) ? mergeDeep(below, value) : value;
  }
  return merged;
}

/**
 * The environment over its base. What the base says of an infrastructure of another kind is left out, and a control
 * plane given in one way replaces one given in the other.
 */
export function mergeUnder(base: Data, environment: Data): Data {
  const below: { [key: string]: unknown } = { ...base };
  const kindOf = (data: Data) => (isData(data.infrastructure) ? data.infrastructure.kind : undefined);
  const kind = kindOf(environment);
  if (kind !== undefined && kind !== kindOf(base)) delete below.infrastructure;
  if (environment.controlPlaneRef !== undefined) delete below.controlPlane;
  if (environment.controlPlane !== undefined) delete below.controlPlaneRef;
  return mergeDeep(below, environment);
}
