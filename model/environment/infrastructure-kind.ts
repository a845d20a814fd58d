// SPDX-License-Identifier: Apache-2.0
import { nearestWord } from "../../talos/nearest-word.ts";
import { kindNames } from "../schema/index.ts";
import type { Fault } from "./fault.ts";
import type { Layers } from "./layers.ts";
import { type Data, isData, mergeUnder } from "./merge.ts";

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
