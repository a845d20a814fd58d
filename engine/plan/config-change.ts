// SPDX-License-Identifier: Apache-2.0
import { isDeepStrictEqual } from "node:util";
import { needsReboot } from "../../talos/config/index.ts";
import { toPlainData } from "../../talos/yaml/index.ts";
import { configDocuments } from "./config-documents.ts";

export interface ConfigChange {
  /** Where, never a value; in order. */
  readonly places: readonly ConfigPlace[];
  /** Whether Talos up to 1.13 needs a reboot for it. */
  readonly reboot: boolean;
}

export interface ConfigPlace {
  /** `v1alpha1`, or the kind and name of a document. */
  readonly document: string;
  /** Such as `machine.sysctls.vm.nr_hugepages`; empty for a document that came or went. */
  readonly path: string;
}

/**
 * What differs between two machine configs in meaning; undefined when nothing does. `diffConfigs`, which shows values to
 * people, is not used: it refuses what our schema does not know, which a machine may have, and takes twice the time.
 */
export function configChange(from: string, to: string): ConfigChange | undefined {
  if (from === to) return undefined;
  const [before, after] = [documentsOf(from), documentsOf(to)];
  const places: ConfigPlace[] = [];
  for (const document of new Set([...before.keys(), ...after.keys()])) {
    const paths: string[] = [];
    collect(before.get(document), after.get(document), "", paths);
    places.push(...paths.map((path) => ({ document, path })));
  }
  if (places.length === 0) return undefined;
  return {
    places: places.sort((a, b) => (placeInWords(a) < placeInWords(b) ? -1 : 1)),
    reboot: places.some(({ document, path }) => document === legacyKey && needsReboot(document, path)),
  };
}

/** `machine.sysctls` or `HostnameConfig.auto`. */
export function placeInWords({ document, path }: ConfigPlace): string {
  return document === legacyKey ? path : [document, path].filter(Boolean).join(".");
}

/** `controlplane` or `worker`, as a config says; undefined when it does not. */
export function machineTypeOf(config: string): string | undefined {
  const legacy = documentsOf(config).get(legacyKey);
  const machine = isRecord(legacy) ? legacy.machine : undefined;
  return isRecord(machine) && typeof machine.type === "string" ? machine.type : undefined;
}

const legacyKey = "v1alpha1";

/** Documents by `v1alpha1`, or kind and name, as plain data. */
export type ConfigDocuments = ReadonlyMap<string, unknown>;

export function documentsOf(config: string): ConfigDocuments {
  const documents = new Map<string, unknown>();
  for (const node of configDocuments(config)) {
    const document = toPlainData(node);
    if (!isRecord(document)) continue;
    const kind = typeof document.kind === "string" ? document.kind : legacyKey;
    const name = typeof document.name === "string" ? `/${document.name}` : "";
    documents.set(kind === legacyKey ? legacyKey : `${kind}${name}`, document);
  }
  return documents;
}

/** Lists differ as a whole; maps by key. Absent, null and empty mean the same to Talos. */
function collect(before: unknown, after: unknown, path: string, into: string[]): void {
  if (isRecord(before) && isRecord(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      collect(before[key], after[key], path === "" ? key : `${path}.${key}`, into);
    }
    return;
  }
  if (isEmpty(before) && isEmpty(after)) return;
  if (!isDeepStrictEqual(before, after)) into.push(path);
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === "") return true;
  if (Array.isArray(value)) return value.length === 0;
  return isRecord(value) && Object.values(value).every(isEmpty);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
