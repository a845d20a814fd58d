// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../errors.ts";
import {
  type Data,
  dataAt,
  isData,
  nodeAt,
  parseYaml,
  plainDataOf,
  toPlainData,
  type YamlNode,
  type YamlScalar,
} from "../yaml/index.ts";
import {
  asRead,
  type ConfigDocument,
  encodeConfig,
  encodedDocuments,
  entryText,
  parseConfig,
} from "./document/config-file.ts";
import { type Patch, patchDocuments } from "./patch/apply.ts";
import { type ConfigRules, newestRules } from "./rules.ts";

/** The name of the document that has neither a kind nor a name. */
export const v1alpha1 = "v1alpha1";

interface Reading {
  readonly documents: ReadonlyMap<string, Data>;
  readonly problem?: TalosError;
}

/**
 * A machine config: the text that goes to a machine or into a file, and what it says, read at most once and only when
 * somebody asks. Most configs are never read: equal texts mean the same. Secret.
 */
export class MachineConfig {
  readonly text: string;
  readonly #name: string;
  readonly rules: ConfigRules;
  #made: readonly ConfigDocument[] | undefined;
  #decoded: readonly ConfigDocument[] | undefined;
  #reading: Reading | undefined;

  /**
   * `name` is how messages call the config. The text may be of any Talos release, and need not be a config at all.
   * By the rules it is decoded, patched and written.
   */
  constructor(text: string, name = "machine config", rules: ConfigRules = newestRules) {
    this.text = text;
    this.#name = name;
    this.rules = rules;
  }

  /** The config of documents that are at hand, which are then not read from the text. */
  static of(documents: readonly ConfigDocument[], rules: ConfigRules): MachineConfig {
    const config = new MachineConfig(encodeConfig(documents, rules), undefined, rules);
    config.#made = documents;
    return config;
  }

  /**
   * What the config says, by `v1alpha1`, or by kind and name: `LinkConfig/eth0`. Also what the schema does not know,
   * because a machine may be newer. Empty when the text cannot be read.
   */
  get documents(): ReadonlyMap<string, Data> {
    return this.#read().documents;
  }

  /** Why the text cannot be read as YAML; undefined when it can. */
  get problem(): TalosError | undefined {
    return this.#read().problem;
  }

  /** The value at a path of the v1alpha1 document, `machine.type`, or of another one: `HostnameConfig:hostname`. */
  value(path: string): unknown {
    const { document, keys } = placeOf(path);
    return dataAt(this.documents.get(document), keys);
  }

  /** The text at such a path; undefined when there is none, or an empty one. */
  textAt(path: string): string | undefined {
    const value = this.value(path);
    return typeof value === "string" && value !== "" ? value : undefined;
  }

  /** The texts of the list at such a path; empty when there is none. */
  textsAt(path: string): readonly string[] {
    const value = this.value(path);
    return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
  }

  /** The documents by the schema, as a machine reads them. Throws `invalid-input` for what it does not know. */
  decode(): readonly ConfigDocument[] {
    this.#decoded ??=
      this.#made === undefined
        ? parseConfig(this.text, this.#name, this.rules)
        : this.#made.map((document) => asRead(document, this.rules));
    return this.#decoded;
  }

  /** The config after these patches, in Talos's own form. Throws as `decode` does. */
  patched(patches: readonly Patch[]): MachineConfig {
    return MachineConfig.of(patchDocuments(this.decode(), patches, this.rules), this.rules);
  }

  /** The config with other texts at some paths that have one. Nothing else changes, not even a space. */
  withTexts(texts: ReadonlyMap<string, string>): MachineConfig {
    const changed = [...texts].filter(([path, text]) => (this.textAt(path) ?? text) !== text);
    if (changed.length === 0) return this;
    const nodes = new Map(parseYaml(this.text, this.#name).map((node) => [titleOf(node), node]));
    const sources = changed.flatMap(([path, text]) => {
      const source = scalarAt(nodes, path)?.source;
      return source === undefined ? [] : [{ text, source }];
    });
    let written = this.text;
    for (const { text, source } of sources.sort((a, b) => b.source[0] - a.source[0])) {
      const before = this.text.slice(...source);
      const quote = before.startsWith('"') || before.startsWith("'") ? before.charAt(0) : "";
      const end = before.endsWith("\n") ? "\n" : "";
      written = `${written.slice(0, source[0])}${quote}${text}${quote}${end}${written.slice(source[1])}`;
    }
    return new MachineConfig(written, this.#name, this.rules);
  }

  #read(): Reading {
    const documents = this.#made ?? this.#decoded;
    this.#reading ??= documents === undefined ? readText(this.text, this.#name) : readDocuments(documents, this.rules);
    return this.#reading;
  }
}

function readText(text: string, name: string): Reading {
  try {
    return { documents: byTitle(parseYaml(text, name).map(toPlainData)) };
  } catch (error) {
    if (!(error instanceof TalosError)) throw error;
    return { documents: new Map(), problem: error };
  }
}

function readDocuments(documents: readonly ConfigDocument[], rules: ConfigRules): Reading {
  return { documents: byTitle(encodedDocuments(documents, rules).map(plainDataOf)) };
}

function byTitle(documents: readonly unknown[]): ReadonlyMap<string, Data> {
  return new Map(
    documents.filter(isData).map((document) => [titleFor(document.kind, document.name), document] as const),
  );
}

function titleFor(kind: unknown, name: unknown): string {
  if (typeof kind !== "string" || kind === v1alpha1) return v1alpha1;
  return typeof name === "string" ? `${kind}/${name}` : kind;
}

function titleOf(node: YamlNode): string {
  if (node.kind !== "mapping") return "";
  return titleFor(entryText(node, "kind") || undefined, entryText(node, "name") || undefined);
}

function placeOf(path: string): { readonly document: string; readonly keys: readonly string[] } {
  const [first = "", second] = path.split(":", 2);
  return second === undefined
    ? { document: v1alpha1, keys: first.split(".") }
    : { document: first, keys: second.split(".") };
}

function scalarAt(nodes: ReadonlyMap<string, YamlNode>, path: string): YamlScalar | undefined {
  const { document, keys } = placeOf(path);
  const root = nodes.get(document);
  const node = root && nodeAt(root, keys);
  return node?.kind === "scalar" ? node : undefined;
}
