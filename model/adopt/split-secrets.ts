// SPDX-License-Identifier: Apache-2.0
import { stringify } from "yaml";
import { secretsInPatch } from "../../talos/config/index.ts";
import { filled } from "../../talos/given.ts";
import { type Data, isData } from "../../talos/yaml/index.ts";

/** Patches apart: what everybody may read, and what belongs into a file of its own. One after the other they say the same. */
export interface SplitPatches {
  readonly open: readonly Data[];
  readonly secret: readonly Data[];
}

/** A document that holds a secret goes whole; of the machine config itself, only the fields that do. */
export function splitSecrets(patches: readonly Data[]): SplitPatches {
  const open: Data[] = [];
  const secret: Data[] = [];
  for (const patch of patches) {
    const [shown, hidden] = patch.kind === undefined ? split(patch, []) : whole(patch);
    if (shown !== undefined) open.push(shown);
    if (hidden !== undefined) secret.push(hidden);
  }
  return { open, secret };
}

type Halves = readonly [open: Data | undefined, secret: Data | undefined];

function whole(patch: Data): Halves {
  return holdsSecrets(patch) ? [undefined, patch] : [patch, undefined];
}

function split(section: Data, path: readonly string[]): Halves {
  const open: { [key: string]: unknown } = {};
  const secret: { [key: string]: unknown } = {};
  for (const [key, value] of Object.entries(section)) {
    const here = [...path, key];
    if (!holdsSecrets(nested(here, value))) open[key] = value;
    // A patch adds to lists, so that one cannot be put together from two halves.
    else if (!isData(value)) secret[key] = value;
    else {
      const [shown, hidden] = split(value, here);
      if (shown !== undefined) open[key] = shown;
      if (hidden !== undefined) secret[key] = hidden;
    }
  }
  return [filled(open), filled(secret)];
}

function nested(path: readonly string[], value: unknown): Data {
  return path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as Data;
}

/** Also what may be harmless: nobody has looked at it yet. */
function holdsSecrets(patch: Data): boolean {
  return secretsInPatch(stringify(patch), "machine config").length > 0;
}
