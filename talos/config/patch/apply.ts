// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../../errors.ts";
import { parseYaml, scalarValue, type YamlNode } from "../../yaml/index.ts";
import {
  type ConfigDocument,
  cloneConfig,
  decodeNodes,
  documentId,
  encodeConfig,
  isNamed,
  parseConfig,
} from "../document/config-file.ts";
import { freeForm } from "../document/decode.ts";
import { requireNoConflict } from "../document/document-conflicts.ts";
import { textAt } from "../document/value.ts";
import { type ConfigRules, newestRules } from "../rules.ts";
import { kindType } from "../schema/schema.ts";
import { type DeleteDirective, deleteInDocument, extractDeletes } from "./delete-directive.ts";
import { applyJsonPatch, type JsonOperation, readOperations } from "./json-patch.ts";
import { mergeSections } from "./merge.ts";

/** A patch, read and checked. */
export type Patch =
  | { readonly kind: "strategic"; readonly steps: readonly StrategicStep[] }
  | { readonly kind: "json"; readonly operations: readonly JsonOperation[] };

type StrategicStep =
  | { readonly kind: "delete"; readonly directive: DeleteDirective }
  | {
      readonly kind: "merge";
      readonly document: ConfigDocument /** Its place in the text, from 0. */;
      readonly index: number;
    };

/**
 * Reads a patch: pieces of config, or RFC 6902 operations as JSON or YAML. A patch without content changes nothing.
 * Throws `invalid-input` in the words of the release whose rules count.
 */
export function parsePatch(text: string, fileName: string, rules: ConfigRules = newestRules): Patch {
  let nodes: readonly YamlNode[];
  try {
    nodes = parseYaml(text, fileName);
  } catch (error) {
    const { message, hint } = TalosError.from(error);
    throw new TalosError("invalid-input", `decode error: yaml: ${message}`, { hint });
  }
  const [first, second] = nodes;
  if (first?.kind === "sequence" && second === undefined) {
    const operations = readOperations(freeForm(first));
    if (operations !== undefined) return { kind: "json", operations };
  }
  const steps: StrategicStep[] = [];
  // Documents are known to each other, so that one that stands twice is noticed, and take their place among the deletes.
  const seen = rules.repeatedDocumentsInPatches ? undefined : new Set<string>();
  for (const [index, node] of nodes.entries()) {
    const { directives, rest } = extractDeletes(node);
    for (const directive of directives) steps.push({ kind: "delete", directive });
    const empty = rest === undefined || (rest.kind === "scalar" && scalarValue(rest) === null);
    if (empty) continue;
    for (const document of decodeNodes([rest], fileName, rules, seen)) steps.push({ kind: "merge", document, index });
  }
  return { kind: "strategic", steps };
}

/** Applies patches one after another to a config, all given as texts, and returns the config in Talos's own form. */
export function applyPatches(
  config: string,
  patches: readonly Patch[],
  fileName: string,
  rules: ConfigRules = newestRules,
): string {
  return textOf(patchConfig({ kind: "text", text: config }, patches, fileName, rules), rules);
}

/**
 * The same for a config that is at hand as documents, which saves writing and reading it. Where a JSON patch was the
 * last, the result is read again: `gen config` checks and orders what `machineconfig patch` prints as it comes.
 */
export function patchDocuments(
  documents: readonly ConfigDocument[],
  patches: readonly Patch[],
  rules: ConfigRules,
): readonly ConfigDocument[] {
  const name = "the patched config";
  const config = patchConfig({ kind: "documents", documents }, patches, name, rules);
  return config.kind === "text" ? parseConfig(config.text, name, rules) : config.documents;
}

type Config =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "documents"; readonly documents: readonly ConfigDocument[] };

function patchConfig(config: Config, patches: readonly Patch[], fileName: string, rules: ConfigRules): Config {
  let current = config;
  for (const patch of joined(patches)) {
    if (patch.kind === "json") {
      current = { kind: "text", text: applyJsonPatch(textOf(current, rules), patch.operations, fileName) };
    } else {
      const documents = current.kind === "text" ? parseConfig(current.text, fileName, rules) : current.documents;
      current = { kind: "documents", documents: applyStrategic(documents, patch.steps, rules) };
    }
  }
  return current;
}

function textOf(config: Config, rules: ConfigRules): string {
  return config.kind === "text" ? config.text : encodeConfig(config.documents, rules);
}

/** Neighbouring JSON patches are one patch. */
function joined(patches: readonly Patch[]): readonly Patch[] {
  const result: Patch[] = [];
  for (const patch of patches) {
    const last = result.at(-1);
    if (patch.kind === "json" && last?.kind === "json") {
      result[result.length - 1] = { kind: "json", operations: [...last.operations, ...patch.operations] };
    } else result.push(patch);
  }
  return result;
}

function applyStrategic(
  config: readonly ConfigDocument[],
  steps: readonly StrategicStep[],
  rules: ConfigRules,
): ConfigDocument[] {
  let documents = cloneConfig(config);
  for (const step of steps) {
    if (step.kind === "merge") {
      const id = documentId(step.document);
      const target = documents.find((document) => documentId(document) === id);
      if (target === undefined) documents.push(...cloneConfig([step.document]));
      else mergeSections(target.section, step.document.section, target.struct, rules);
    } else documents = applyDelete(documents, step.directive, rules);
  }
  requireNoConflict(documents, rules);
  return documents;
}

/** One that only newer contracts have was written for one of them, such as by a migration. */
function missingDocument({ kind, name }: DeleteDirective, { contract }: ConfigRules): TalosError {
  const document = name === "" ? kind : `${kind}/${name}`;
  const since = kindType(kind)?.since ?? 0;
  if (contract.includes(since))
    return new TalosError("invalid-input", `patch delete: the config has no document ${document}`, {
      hint: "Leave the directive out, or correct kind and name.",
    });
  return new TalosError(
    "invalid-input",
    `a patch deletes ${document}, which configs of contract ${contract} do not have: it is for contract v1.${since} or newer`,
    {
      hint: `Set the config contract back to v1.${since} or newer, or remove the patch. There is no way back from a newer contract that was deployed.`,
    },
  );
}

function applyDelete(documents: ConfigDocument[], directive: DeleteDirective, rules: ConfigRules): ConfigDocument[] {
  const target = documents.find((document) => {
    if (document.kind !== directive.kind || document.apiVersion !== directive.apiVersion) return false;
    return !isNamed(document.struct) || textAt(document.section, "name") === directive.name;
  });
  if (target === undefined) {
    if (rules.skipsMissingDocuments) return documents;
    throw missingDocument(directive, rules);
  }
  if (directive.path.length === 0) return documents.filter((document) => document !== target);
  deleteInDocument(target, directive);
  return documents;
}
