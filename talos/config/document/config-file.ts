// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../../errors.ts";
import { nearestWord } from "../../nearest-word.ts";
import {
  parseYaml,
  scalarValue,
  stringifyYaml,
  stringifyYamlDocuments,
  YamlFloat,
  type YamlMapping,
  type YamlNode,
  YamlPlain,
  type YamlValue,
} from "../../yaml/index.ts";
import { type ConfigRules, newestRules } from "../rules.ts";
import { kindNames, kindType, type Struct, structOf, unknownKind } from "../schema/schema.ts";
import { type DecodeResult, decodeDocument, freeSection } from "./decode.ts";
import { requireNoConflict } from "./document-conflicts.ts";
import { encodeDocument, writtenSection } from "./encode.ts";
import { cloneValue, isSection, type Section, textAt, type Value } from "./value.ts";

/** One document of a machine config. The v1alpha1 document has kind "v1alpha1" and no apiVersion. */
export interface ConfigDocument {
  readonly kind: string;
  readonly apiVersion: string;
  /** Changed by patches. */
  readonly section: Section;
  readonly struct: Struct;
}

/** What identifies a document among others: version, kind and, for kinds that have one, name. */
export function documentId(document: Pick<ConfigDocument, "kind" | "apiVersion" | "section" | "struct">): string {
  const base = `${document.apiVersion}/${document.kind}`;
  return isNamed(document.struct) ? `${base}/${textAt(document.section, "name")}` : base;
}

/** Whether it is one that a newer Talos may know. */
export function isOfUnknownKind({ struct }: Pick<ConfigDocument, "struct">): boolean {
  return struct.name === unknownKind;
}

export function isNamed(struct: Struct): boolean {
  return struct.byKey.has("name") && struct.byKey.has("kind");
}

/** How a document is called in messages: `LinkConfig/eth0`. */
export function documentTitle(document: ConfigDocument): string {
  const name = textAt(document.section, "name");
  return isNamed(document.struct) && !(isOfUnknownKind(document) && name === "")
    ? `${document.kind}/${name}`
    : document.kind;
}

/**
 * Reads a machine config. Strict: a key that Talos does not know, a value of the wrong kind or a document that stands
 * twice is an error in Talos's words, and the hint tells place, path and the nearest known key.
 */
export function parseConfig(text: string, fileName: string, rules: ConfigRules = newestRules): ConfigDocument[] {
  const documents = decodeNodes(parseYaml(text, fileName), fileName, rules, new Set());
  if (documents.length === 0)
    throw new TalosError("invalid-input", "config not found", { hint: `${fileName} is empty.` });
  requireNoConflict(documents, rules);
  return documents;
}

/**
 * Decodes parsed YAML documents; empty ones are skipped. `seen` has those of the same file that came before; undefined
 * where the same document may stand twice.
 */
export function decodeNodes(
  nodes: readonly YamlNode[],
  fileName: string,
  rules: ConfigRules,
  seen: Set<string> | undefined,
): ConfigDocument[] {
  const documents: ConfigDocument[] = [];
  for (const node of nodes) {
    if (node.kind === "scalar" && scalarValue(node) === null) continue;
    if (node.kind !== "mapping") {
      throw new TalosError("invalid-input", `expected a YAML document at line ${node.line}`, {
        hint: `${fileName}:${node.line}:${node.column}: found a ${node.kind}, expected a map.`,
      });
    }
    const id = [entryText(node, "apiVersion"), entryText(node, "kind") || "v1alpha1", entryText(node, "name")].join(
      "/",
    );
    if (seen?.has(id)) {
      throw new TalosError("invalid-input", `duplicate document ${id} is not allowed (line ${node.line})`, {
        hint: `${fileName}:${node.line}:${node.column}: keep one of the two documents.`,
      });
    }
    seen?.add(id);
    documents.push(decodeNode(node, id, fileName, rules));
  }
  return documents;
}

function decodeNode(node: YamlMapping, id: string, fileName: string, rules: ConfigRules): ConfigDocument {
  const failed = (message: string, hint: string): TalosError =>
    new TalosError("invalid-input", `error decoding document ${id} (line ${node.line}): ${message}`, { hint });
  const place = `${fileName}:${node.line}:${node.column}`;
  const type = documentType(node, rules);
  if ("problem" in type) throw failed(type.problem, `${place}: ${type.advice}`);
  const { kind, apiVersion } = type;
  if (isOfUnknownKind(type)) return { ...type, section: freeSection(node) };
  const result = decodeDocument(node, type.struct, rules);
  if (result.faults.length > 0) {
    const lines = result.faults.map(({ line, message }) => `line ${line}: ${message}`);
    const list = rules.faultsInOneLine ? ` ${lines.join("; ")}` : lines.map((line) => `\n  ${line}`).join("");
    const places = result.faults.map(({ path, line, column }) => `${fileName}:${line}:${column}: change ${path}.`);
    throw failed(`error decoding ${kind} to *${type.struct.name}: yaml: construct errors:${list}`, places.join("\n"));
  }
  if (result.unknownTree !== undefined) {
    const keys = stringifyYaml(result.unknownTree).trimEnd();
    throw failed(`unknown keys found during decoding:\n${keys}`, unknownHint(result, fileName));
  }
  if (result.nullElements.length > 0) {
    const list = result.nullElements.map(({ line, message }) => `${message} (line ${line})`).join("\n");
    const places = result.nullElements.map(
      ({ path, line, column }) => `${fileName}:${line}:${column}: remove ${path}.`,
    );
    throw failed(list, places.join("\n"));
  }
  return {
    kind: kind === "" ? "v1alpha1" : kind,
    apiVersion: kind === "" ? "" : apiVersion,
    section: result.section,
    struct: type.struct,
  };
}

type DocumentType =
  | { readonly kind: string; readonly apiVersion: string; readonly struct: Struct }
  | { readonly problem: string; readonly advice: string };

/** What kind of document this is, or why that cannot be told. */
export function documentType(node: YamlMapping, rules: ConfigRules): DocumentType {
  const kind = entryText(node, "kind");
  const legacy = node.entries.some(({ key }) => ["machine", "cluster", "debug", "persist"].includes(key.text));
  const apiVersion = legacy ? "v1alpha1" : entryText(node, "apiVersion");
  if (kind === "" && apiVersion !== "v1alpha1")
    return { problem: "missing kind", advice: 'add "kind: …" to the document.' };
  if (apiVersion === "")
    return { problem: "missing apiVersion", advice: 'add "apiVersion: v1alpha1" to the document.' };
  const type = apiVersion === "v1alpha1" ? kindType(kind === "" ? "v1alpha1" : kind) : undefined;
  if (type !== undefined) return { kind, apiVersion, struct: type.struct };
  if (rules.unknownKinds === "carried") return { kind, apiVersion, struct: structOf(unknownKind) };
  const near = nearestWord(kind, kindNames);
  return {
    problem: `${JSON.stringify(kind)} ${JSON.stringify(apiVersion)}: not registered`,
    advice: near === undefined ? "see the list of kinds in the documentation." : `did you mean ${near}?`,
  };
}

function unknownHint(result: DecodeResult, fileName: string): string {
  return result.unknown
    .map(({ path, key, known }) => {
      const near = nearestWord(key.text, known);
      const advice = near === undefined ? "" : `, the nearest known field is ${near}`;
      return `${fileName}:${key.line}:${key.column}: ${path} is not a known field${advice}.`;
    })
    .join("\n");
}

/** The text of a top-level entry; empty when it is absent or no scalar. */
export function entryText(node: YamlMapping, name: string): string {
  const value = node.entries.find((entry) => entry.key.text === name)?.value;
  return value?.kind === "scalar" ? value.text : "";
}

/** Writes documents as Talos does: fields in schema order, no comments. */
export function encodeConfig(documents: readonly ConfigDocument[], rules: ConfigRules = newestRules): string {
  return stringifyYamlDocuments(encodedDocuments(documents, rules), rules.quotesOfWords);
}

/** A document as it is read back when it has been written by the rules. */
export function asRead(document: ConfigDocument, rules: ConfigRules): ConfigDocument {
  return { ...document, section: writtenSection(document.section, document.struct, rules) };
}

/** The same before it is written. */
export function encodedDocuments(documents: readonly ConfigDocument[], rules: ConfigRules): readonly YamlValue[] {
  return documents.map(({ section, struct }) => encodeDocument(section, struct, rules));
}

/** Documents from plain data that is known to be right, such as what we generate ourselves. */
export function documentsOf(data: readonly YamlValue[]): readonly ConfigDocument[] {
  return data.map((value) => {
    const section = toValue(value);
    if (!isSection(section)) throw new TalosError("internal", "a document must be a map");
    const kind = textAt(section, "kind") || "v1alpha1";
    const type = kindType(kind);
    if (type === undefined) throw new TalosError("internal", `there is no kind ${kind}`);
    return { kind, apiVersion: textAt(section, "apiVersion"), section, struct: type.struct };
  });
}

function toValue(value: YamlValue): Value {
  if (Array.isArray(value)) return value.map(toValue);
  if (value === null || typeof value !== "object") return value;
  if (value instanceof YamlFloat || value instanceof YamlPlain) return value;
  const entries = value instanceof Map ? [...value] : Object.entries(value);
  return new Map(entries.filter(([, inner]) => inner !== undefined).map(([key, inner]) => [key, toValue(inner)]));
}

export function cloneConfig(documents: readonly ConfigDocument[]): ConfigDocument[] {
  return documents.map((document) => ({ ...document, section: cloneValue(document.section) }));
}
