// SPDX-License-Identifier: Apache-2.0
import { isDeepStrictEqual } from "node:util";
import { TalosError } from "../errors.ts";
import { isData, stringifyYaml } from "../yaml/index.ts";
import { type ConfigDocument, documentId, documentTitle, encodeConfig, parseConfig } from "./document/config-file.ts";
import { isSection, isZero, type Section, sameValue, type Value } from "./document/value.ts";
import { type MachineConfig, v1alpha1 } from "./machine-config.ts";
import { inFormOf, type MovedSetting } from "./moved-settings.ts";
import { needsReboot } from "./reboot-rules.ts";
import { certificateSummary, hiddenEntry, hiddenForm, hidePasswords, redacted, redactValue } from "./redact.ts";
import { newestRules } from "./rules.ts";
import { zeroWord } from "./schema/enums.ts";
import { type Field, type FieldType, type Struct, structOf, unknownKind } from "./schema/schema.ts";
import { isHarmlessVariable, isHiddenField, isVariablesField } from "./schema/secret-fields.ts";

/** One difference between two configs. */
export interface Change {
  /** `v1alpha1`, or the kind and name of the document: `LinkConfig/eth0`. */
  readonly document: string;
  /** Path of the field; empty when the document as a whole came or went. */
  readonly path: string;
  readonly kind: "added" | "removed" | "changed" | "moved";
  /** The value as YAML, secrets replaced, certificates in one line; absent on the side where there is none. */
  readonly before?: string | undefined;
  readonly after?: string | undefined;
  /** Of what has moved: the kind of the document that has it now, and the minor release that brought that kind. */
  readonly to?: string;
  readonly since?: number;
  /** Whether a running machine has to reboot to take the change over. */
  readonly reboot: boolean;
}

/**
 * Compares two machine configs by meaning: order of keys, comments and layout do not count. What the second keeps in a
 * document of its own is told as moved, and compared there. A machine of a newer Talos can have settings that the
 * schema does not know, and with them secrets: of such a config only the places are given.
 */
export function diffConfigs(before: MachineConfig, after: MachineConfig): readonly Change[] {
  try {
    return compareDocuments(canonical(before), canonical(after));
  } catch (error) {
    if (!(error instanceof TalosError)) throw error;
    const { places = [], reboot = false } = configChange(before, after) ?? {};
    return places.map(({ document, path }) => ({ document, path, kind: "changed", reboot }));
  }
}

/** Where two configs differ in meaning. */
export interface ConfigChange {
  /** In order. */
  readonly places: readonly ConfigPlace[];
  /** Whether Talos up to 1.13 needs a reboot for it. */
  readonly reboot: boolean;
}

/** A place, never a value. */
export interface ConfigPlace {
  /** As in `Change`. */
  readonly document: string;
  /** Such as `machine.sysctls.vm.nr_hugepages`; empty for a document that came or went. */
  readonly path: string;
  /** The path by its keys, which may have dots. */
  readonly keys: readonly string[];
  /** The path with the document before it, unless that is the v1alpha1 one: `HostnameConfig.auto`. */
  readonly title: string;
}

/**
 * Where two configs differ, without their values; undefined when they mean the same. For decisions about many machines:
 * it takes half the time of `diffConfigs`, and does not need to know what it compares. A config that cannot be read
 * differs as a whole.
 */
export function configChange(before: MachineConfig, after: MachineConfig): ConfigChange | undefined {
  if (before.text === after.text) return undefined;
  if (before.problem !== undefined || after.problem !== undefined)
    return { places: [{ document: "the whole config", path: "", keys: [], title: "the whole config" }], reboot: true };
  const places = changedPlaces(before, after);
  if (places.length === 0) return undefined;
  return {
    places: [...places].sort((a, b) => (a.title < b.title ? -1 : 1)),
    reboot: places.some(({ document, path }) => needsReboot(document, path)),
  };
}

/** The places of both configs in the order in which they stand there. */
export function changedPlaces(before: MachineConfig, after: MachineConfig): readonly ConfigPlace[] {
  const places: ConfigPlace[] = [];
  for (const document of new Set([...before.documents.keys(), ...after.documents.keys()])) {
    for (const keys of changedKeys(before.documents.get(document), after.documents.get(document))) {
      const path = keys.join(".");
      const title = document === v1alpha1 ? path : [document, path].filter(Boolean).join(".");
      places.push({ document, path, keys, title });
    }
  }
  return places;
}

/** Lists differ as a whole; maps by key. */
function changedKeys(before: unknown, after: unknown): readonly (readonly string[])[] {
  if (isData(before) && isData(after))
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) =>
      changedKeys(before[key], after[key]).map((keys) => [key, ...keys]),
    );
  const same = isDeepStrictEqual(before, after) || (isUnset(before) && isUnset(after));
  return same ? [] : [[]];
}

/** Absent, null and empty mean the same to Talos. */
export function isUnset(value: unknown): boolean {
  if (value === undefined || value === null || value === "") return true;
  if (Array.isArray(value)) return value.length === 0;
  return isData(value) && Object.values(value).every(isUnset);
}

function compareDocuments(before: readonly ConfigDocument[], right: readonly ConfigDocument[]): readonly Change[] {
  const { documents: left, moved } = inFormOf(right, before);
  const changes: Change[] = [];
  for (const document of left) {
    const other = right.find((candidate) => documentId(candidate) === documentId(document));
    const title = documentTitle(document);
    if (other === undefined) changes.push(wholeDocument(document, "removed"));
    else new Comparison(title, changes).sections(document.section, other.section, document.struct, "");
  }
  for (const document of right) {
    if (!left.some((candidate) => documentId(candidate) === documentId(document))) {
      changes.push(wholeDocument(document, "added"));
    }
  }
  return [...moved.filter((setting) => !isAmong(changes, setting)).map(movedChange), ...changes];
}

/** In one line, what is only kept in another place; undefined when nothing is. */
export function movesInWords(changes: readonly Change[]): string | undefined {
  const moved = changes.filter(({ kind }) => kind === "moved");
  if (moved.length === 0) return undefined;
  const release = Math.max(...moved.map(({ since }) => since ?? 0));
  const sections = new Set(moved.map(({ path }) => path.split(".").slice(0, 2).join(".")));
  const mark = moved.some(({ reboot }) => reboot) ? " (reboots)" : "";
  return `moved, not changed, for Talos 1.${release} keeps them in documents of their own: ${[...sections].sort().join(", ")}${mark}`;
}

/** Whether a setting that moved has also changed: then the change, at its new place, says it all. */
function isAmong(changes: readonly Change[], { places }: MovedSetting): boolean {
  return changes.some((change) =>
    places.some(({ document, path }) => change.document === document && isWithin(change.path, path)),
  );
}

function isWithin(inner: string, path: string): boolean {
  return inner === path || inner.startsWith(`${path}.`) || inner.startsWith(`${path}[`);
}

function movedChange({ from, to, since }: MovedSetting): Change {
  const document = v1alpha1;
  return { document, path: from, kind: "moved", to, since, reboot: needsReboot(document, from) };
}

/** The config as Talos would write it, so that what is only spelled differently is the same. */
function canonical(config: MachineConfig): readonly ConfigDocument[] {
  return parseConfig(encodeConfig(config.decode(), config.rules), "machine config", config.rules);
}

function wholeDocument(document: ConfigDocument, kind: "added" | "removed"): Change {
  const title = documentTitle(document);
  return { document: title, path: "", kind, reboot: needsReboot(document.kind, "") };
}

class Comparison {
  readonly #document: string;
  readonly #changes: Change[];

  constructor(document: string, changes: Change[]) {
    this.#document = document;
    this.#changes = changes;
  }

  sections(left: Section, right: Section, struct: Struct, path: string): void {
    for (const field of [...struct.fields, ...freeFields(left, right, struct)]) {
      const [before, after] = [present(left, field), present(right, field)];
      const inner = path === "" ? field.key : `${path}.${field.key}`;
      this.#values(before, after, field.type, { path: inner, struct: struct.name, field });
    }
  }

  #values(before: Value | undefined, after: Value | undefined, type: FieldType, at: Place): void {
    if (sameValue(before, after)) return;
    if (type.kind === "pointer") this.#values(before, after, type.to, at);
    else if (before === undefined || after === undefined || isHiddenField(at.struct, at.field.key))
      this.#report(before, after, at);
    else if (type.kind === "struct" && isSection(before) && isSection(after)) {
      this.sections(before, after, structOf(type.name), at.path);
    } else if (isSection(before) && isSection(after)) this.#maps(before, after, type, at);
    else if (Array.isArray(before) && Array.isArray(after)) this.#lists(before, after, type, at);
    else this.#report(before, after, at);
  }

  #maps(before: Section, after: Section, type: FieldType, at: Place): void {
    const inner = type.kind === "map" ? type.of : type;
    const variables = isVariablesField(at.struct, at.field.key);
    for (const key of new Set([...before.keys(), ...after.keys()])) {
      const secret = at.secret || hiddenEntry(key, "", inner) !== undefined;
      const place = { ...at, path: `${at.path}.${key}`, variable: variables ? key : at.variable, secret };
      this.#values(before.get(key), after.get(key), inner, place);
    }
  }

  /** Elements are matched by the field that names them, where there is one; other lists are compared as sets first. */
  #lists(before: readonly Value[], after: readonly Value[], type: FieldType, at: Place): void {
    const element = type.kind === "list" ? type.of : type;
    const name = elementName([...before, ...after], at.field);
    if (name !== undefined) {
      const byName = (list: readonly Value[]): Section =>
        new Map(list.filter(isSection).map((item) => [String(item.get(name)), item]));
      const [left, right] = [byName(before), byName(after)];
      for (const key of new Set([...left.keys(), ...right.keys()])) {
        this.#values(left.get(key), right.get(key), element, { ...at, path: `${at.path}[${name}=${key}]` });
      }
      return;
    }
    const gone = without(before, after);
    const come = without(after, before);
    if (gone.length === 0 && come.length === 0) this.#report([...before], [...after], at);
    for (const value of gone) this.#report(value, undefined, { ...at, path: `${at.path}[]` });
    for (const value of come) this.#report(undefined, value, { ...at, path: `${at.path}[]` });
  }

  #report(before: Value | undefined, after: Value | undefined, at: Place): void {
    const kind = before === undefined ? "added" : after === undefined ? "removed" : "changed";
    const [document = ""] = this.#document.split("/");
    this.#changes.push({
      document: this.#document,
      path: at.path,
      kind,
      before: before === undefined ? undefined : shown(before, at),
      after: after === undefined ? undefined : shown(after, at),
      reboot: needsReboot(document, at.path),
    });
  }
}

/** What a document of an unknown kind says beside its name. */
function freeFields(left: Section, right: Section, struct: Struct): readonly Field[] {
  if (struct.name !== unknownKind) return [];
  const keys = new Set([...left.keys(), ...right.keys()].filter((key) => !struct.byKey.has(key)));
  return [...keys].map((key) => ({
    name: key,
    key,
    type: { kind: "object" },
    omitSince: undefined,
    merge: { kind: "usual" },
    since: 0,
  }));
}

interface Place {
  readonly path: string;
  /** The type that has the field. */
  readonly struct: string;
  readonly field: Field;
  /** The name, where it is one of several environment variables. */
  readonly variable?: string | undefined;
  /** Below an entry whose name says that it is a secret. */
  readonly secret?: boolean;
}

/** Undefined also for a value that Talos takes for unset. */
function present(section: Section, field: Field): Value | undefined {
  const value = section.get(field.key);
  // A choice that is unset means one of its words, which is shown like any other.
  if (field.type.kind === "enum") return value || zeroWord(field.type.name) || undefined;
  // A section without a word in it says nothing, also where Talos tells it from an absent one.
  if (isSection(value) && value.size === 0) return undefined;
  return isZero(value, field.type, newestRules.contract) ? undefined : value;
}

function elementName(items: readonly Value[], field: Field): string | undefined {
  const first = "key" in field.merge ? field.merge.key : "name";
  const candidates = [first, "name", "interface", "vlanId", "mountPath", "device", "path"];
  return candidates.find((key) => items.every((item) => isSection(item) && item.has(key)) && unique(items, key));
}

function unique(items: readonly Value[], key: string): boolean {
  // Both sides are in the list, so a name may stand there twice.
  const counts = new Map<string, number>();
  for (const item of items) {
    const name = isSection(item) ? String(item.get(key)) : "";
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts.values()].every((count) => count <= 2);
}

/** What of the first list the second does not have, each occurrence counted. */
function without(list: readonly Value[], other: readonly Value[]): readonly Value[] {
  const rest = [...other];
  return list.filter((value) => {
    const index = rest.findIndex((candidate) => sameValue(candidate, value));
    if (index >= 0) rest.splice(index, 1);
    return index < 0;
  });
}

function shown(value: Value, at: Place): string {
  if (at.secret) return redacted;
  if (at.variable !== undefined)
    return isHarmlessVariable(at.variable) ? stringifyYaml(hidePasswords(value)).trimEnd() : redacted;
  const hidden = hiddenForm(at.struct, at.field.key, value);
  if (typeof hidden === "string") return hidden;
  // A value that came or went as a whole may hold secrets further down.
  return stringifyYaml(hidden ?? summarize(redactValue(value, at.field.type))).trimEnd();
}

/** Certificates are public, but nobody reads them: one line tells them apart. */
function summarize(value: Value): Value {
  if (typeof value === "string") return certificateSummary(value) ?? hidePasswords(value);
  if (Array.isArray(value)) return value.map(summarize);
  return isSection(value) ? new Map([...value].map(([key, inner]) => [key, summarize(inner)])) : value;
}
