// SPDX-License-Identifier: Apache-2.0
import { isDeepStrictEqual } from "node:util";
import { parseYaml, toPlainData } from "../../talos/yaml/index.ts";
import { type Data, isData } from "./source.ts";

type Tree = { [key: string]: unknown };

const removal = { $patch: "delete" };

/**
 * Config patches, each of one document, that make the first config mean what the second one does. Lists are taken away
 * and set anew, because a patch would add to them.
 */
export function patchesBetween(from: string, to: string): readonly Data[] {
  const [before, after] = [documentsOf(from), documentsOf(to)];
  const removals: Data[] = [];
  const additions: Data[] = [];
  for (const key of new Set([...before.keys(), ...after.keys()])) {
    const [old, wanted] = [before.get(key), after.get(key)];
    if (wanted === undefined) removals.push({ ...titleOf(old ?? {}), ...removal });
    else if (old === undefined) additions.push(wanted);
    else {
      const [removed, set] = compare(old, wanted);
      if (Object.keys(removed).length > 0) removals.push({ ...titleOf(wanted), ...removed });
      if (Object.keys(set).length > 0) additions.push({ ...titleOf(wanted), ...set });
    }
  }
  return [...removals, ...additions];
}

function compare(before: Data, after: Data): [removed: Tree, set: Tree] {
  const removed: Tree = {};
  const set: Tree = {};
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [old, wanted] = [before[key], after[key]];
    if (isDeepStrictEqual(old, wanted) || (isEmpty(old) && isEmpty(wanted))) continue;
    if (isEmpty(wanted)) removed[key] = removal;
    else if (isData(old) && isData(wanted) && !isPair(wanted)) {
      const [innerRemoved, innerSet] = compare(old, wanted);
      if (Object.keys(innerRemoved).length > 0) removed[key] = innerRemoved;
      if (Object.keys(innerSet).length > 0) set[key] = innerSet;
    } else {
      if (Array.isArray(old) && !isEmpty(old)) removed[key] = removal;
      set[key] = wanted;
    }
  }
  return [removed, set];
}

/** A certificate and its key, which a patch replaces together. */
function isPair(value: Data): boolean {
  return Object.keys(value).every((key) => key === "crt" || key === "key");
}

/** What tells a document from the others of a config; the first one has no such fields. */
function titleOf({ apiVersion, kind, name }: Data): Data {
  if (kind === undefined) return {};
  return { apiVersion, kind, ...(name === undefined ? {} : { name }) };
}

function documentsOf(config: string): Map<string, Data> {
  const documents = new Map<string, Data>();
  for (const node of parseYaml(config, "machine config")) {
    const document = toPlainData(node);
    if (!isData(document)) continue;
    const { kind, name } = document;
    documents.set(kind === undefined ? "" : `${kind}/${name ?? ""}`, document);
  }
  return documents;
}

/** Absent, null and empty mean the same to Talos. */
function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === "") return true;
  if (Array.isArray(value)) return value.length === 0;
  return isData(value) && Object.values(value).every(isEmpty);
}
