// SPDX-License-Identifier: Apache-2.0
import { nearestWord } from "../../talos/nearest-word.ts";
import { type Data, isData } from "../../talos/yaml/index.ts";
import { kindNames } from "../schema/index.ts";
import type { Fault } from "./fault.ts";
import type { Layers } from "./layers.ts";

const kindOf = (data: Data): unknown => (isData(data.infrastructure) ? data.infrastructure.kind : undefined);

/**
 * The environment over its base. An unknown `infrastructure.kind` is a fault; where it is near a known one, all else
 * is checked as if that had been written, so that one slip does not hide the others.
 */
export function mergeWithKnownKind(base: Data, own: Data, layers: Layers, faults: Fault[]): Data {
  const merged = mergeUnder(base, own);
  const written = kindOf(merged);
  if (kindNames.some((known) => known === written)) return merged;
  const near = typeof written === "string" ? nearestWord(written, kindNames) : undefined;
  faults.push(
    layers.fault(["infrastructure", "kind"], {
      value: written,
      expected: kindNames.join(", ").replace(/, ([^,]*)$/, " or $1"),
      hint:
        written === undefined
          ? "Add infrastructure: { kind: … }."
          : near === undefined
            ? "Change the value."
            : `Did you mean ${near}?`,
    }),
  );
  if (near === undefined) return merged;
  const corrected = (data: Data): Data =>
    kindOf(data) === written ? { ...data, infrastructure: { ...(data.infrastructure as Data), kind: near } } : data;
  return mergeUnder(corrected(base), corrected(own));
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
function mergeUnder(base: Data, environment: Data): Data {
  const below: { [key: string]: unknown } = { ...base };
  const kind = kindOf(environment);
  if (kind !== undefined && kind !== kindOf(base)) delete below.infrastructure;
  if (environment.controlPlaneRef !== undefined) delete below.controlPlane;
  if (environment.controlPlane !== undefined) delete below.controlPlaneRef;
  return mergeDeep(below, environment);
}
