// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../../errors.ts";
import { nearestWord } from "../../nearest-word.ts";
import { scalarValue, type YamlNode } from "../../yaml/index.ts";
import { documentType, isOfUnknownKind } from "../document/config-file.ts";
import { decodeDocument } from "../document/decode.ts";
import type { ConfigRules } from "../rules.ts";
import { extractDeletes } from "./delete-directive.ts";

/** One thing in a patch that Talos would not take. */
export interface PatchFault {
  readonly line: number;
  readonly column: number;
  /** Where in the document; empty for the whole of it. */
  readonly path: string;
  /** The unknown key that stands there. */
  readonly key?: string;
  readonly found: string;
  readonly expected: string;
  readonly hint: string;
}

/**
 * Everything in a patch that Talos does not know: kinds, fields, values of the wrong type. What only shows when it is
 * applied to a config is not among it, nor what is in RFC 6902 operations.
 */
export function findPatchFaults(documents: readonly YamlNode[], rules: ConfigRules): readonly PatchFault[] {
  const [first, second] = documents;
  if (first?.kind === "sequence" && second === undefined) return [];
  return documents.flatMap((document) => faultsOf(document, rules));
}

function faultsOf(document: YamlNode, rules: ConfigRules): readonly PatchFault[] {
  const { line, column } = document;
  const whole = (found: string, expected: string, hint: string) => [{ line, column, path: "", found, expected, hint }];
  if (document.kind === "scalar" && scalarValue(document) === null) return [];
  if (document.kind !== "mapping")
    return whole(`a ${document.kind}`, "a piece of a machine config", "Write a mapping, such as machine: { … }.");
  let rest: YamlNode | undefined;
  try {
    rest = extractDeletes(document).rest;
  } catch (error) {
    const { message, hint } = TalosError.from(error);
    return whole(message, "a delete directive that Talos can follow", hint ?? "Correct the $patch: delete.");
  }
  if (rest?.kind !== "mapping") return [];
  const type = documentType(rest, rules);
  if ("problem" in type)
    return whole(
      type.problem,
      "a piece of a machine config",
      type.advice.replace(/^./, (letter) => letter.toUpperCase()),
    );
  if (isOfUnknownKind(type)) return [];
  const { unknown, faults, nullElements } = decodeDocument(rest, type.struct, rules);
  return [
    ...unknown.map(({ path, key, known }) => {
      const near = nearestWord(key.text, known);
      return {
        line: key.line,
        column: key.column,
        path,
        key: key.text,
        found: `the field ${key.text}`,
        expected: "a field of Talos's machine config",
        hint: near === undefined ? `Known here are ${[...known].sort().join(", ")}.` : `Did you mean ${near}?`,
      };
    }),
    ...[...faults, ...nullElements].map(({ message, ...place }) => ({
      ...place,
      found: withoutValue(message),
      expected: "a value of the field's type",
      hint: "Change the value.",
    })),
  ];
}

/** A value of the wrong type may be a secret in the wrong place: its kind has to do. */
function withoutValue(message: string): string {
  return message.replace(/ `[^`]*`/g, "");
}
