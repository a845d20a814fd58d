// SPDX-License-Identifier: Apache-2.0
import { changedPlaces, isUnset, type MachineConfig } from "../../talos/config/index.ts";
import { given } from "../../talos/given.ts";
import { type Data, dataAt, isData } from "../../talos/yaml/index.ts";

type Tree = { [key: string]: unknown };

const removal = { $patch: "delete" };

/**
 * Config patches, each of one document, that make the first config mean what the second one does. Lists are taken away
 * and set anew, because a patch would add to them.
 */
export function patchesBetween(from: MachineConfig, to: MachineConfig): readonly Data[] {
  const removals = new Map<string, Tree>();
  const additions = new Map<string, Tree>();
  for (const { document, keys } of changedPlaces(from, to)) {
    const [old, wanted] = [from.documents.get(document), to.documents.get(document)];
    const title = titleOf(wanted ?? old ?? {});
    if (wanted === undefined) removals.set(document, { ...title, ...removal });
    else if (old === undefined) additions.set(document, { ...wanted });
    else {
      const place = withPair(wanted, keys);
      const [before, after] = [dataAt(old, place), dataAt(wanted, place)];
      if (isUnset(after) || (Array.isArray(before) && !isUnset(before))) put(removals, document, title, place, removal);
      if (!isUnset(after)) put(additions, document, title, place, after);
    }
  }
  return [...removals.values(), ...additions.values()];
}

function put(into: Map<string, Tree>, document: string, title: Data, keys: readonly string[], value: unknown): void {
  const whole: Tree = into.get(document) ?? { ...title };
  into.set(document, whole);
  let tree = whole;
  for (const key of keys.slice(0, -1)) {
    const inner: Tree = isData(tree[key]) ? tree[key] : {};
    tree[key] = inner;
    tree = inner;
  }
  tree[keys.at(-1) ?? ""] = value;
}

/** A certificate and its key are replaced together: of one of them, the place of both. */
function withPair(document: Data, keys: readonly string[]): readonly string[] {
  const parent = dataAt(document, keys.slice(0, -1));
  const isPair = isData(parent) && Object.keys(parent).every((key) => key === "crt" || key === "key");
  return isPair && !isUnset(parent) ? keys.slice(0, -1) : keys;
}

/** What tells a document from the others of a config; the first one has no such fields. */
function titleOf({ apiVersion, kind, name }: Data): Data {
  if (kind === undefined) return {};
  return { apiVersion, kind, ...given({ name }) };
}
