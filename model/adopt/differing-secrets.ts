// SPDX-License-Identifier: Apache-2.0
import { type Data, isData } from "../../talos/yaml/index.ts";

/** A machine and the patches with what is secret in its config. */
interface MachineSecrets {
  readonly name: string;
  readonly secret: readonly Data[];
}

/** Which secrets are not the same on all machines, a line for each: where they are and which machines agree, never a value. */
export function differingSecrets(machines: readonly MachineSecrets[]): readonly string[] {
  const values = machines.map(({ name, secret }) => ({ name, leaves: new Map(secret.flatMap(leavesOfPatch)) }));
  const places = new Set(values.flatMap(({ leaves }) => [...leaves.keys()]));
  return [...places].sort().flatMap((place) => {
    const found = new Set(values.map(({ leaves }) => leaves.get(place)));
    if (found.size === 1) return [];
    const namesWith = (value: string | undefined) =>
      values.flatMap(({ name, leaves }) => (leaves.get(place) === value ? [name] : [])).join(", ");
    const given = [...found].flatMap((value) => (value === undefined ? [] : [namesWith(value)]));
    const differ = given.length === 1 ? `set on ${given[0]}` : `one value on ${given.join("; another on ")}`;
    return [`${place}: ${differ}${found.has(undefined) ? `; not set on ${namesWith(undefined)}` : ""}`];
  });
}

function leavesOfPatch(patch: Data): readonly (readonly [place: string, value: string])[] {
  if (typeof patch.kind !== "string") return leavesOf(patch, "");
  const { apiVersion: _version, kind, name, ...fields } = patch;
  return leavesOf(fields, `${kind}${typeof name === "string" ? `/${name}` : ""} `);
}

/** Lists are one value: their items have no names. */
function leavesOf(data: Data, prefix: string): readonly (readonly [place: string, value: string])[] {
  return Object.entries(data).flatMap(([key, value]) =>
    isData(value) ? leavesOf(value, `${prefix}${key}.`) : [[`${prefix}${key}`, JSON.stringify(value)] as const],
  );
}
