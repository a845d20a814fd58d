// SPDX-License-Identifier: Apache-2.0
import { stringify } from "yaml";
import { type ConfigRules, findPatchFaults, secretsInPatch } from "../../talos/config/patch/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { nodeAt, parseYaml, type YamlNode, type YamlScalar } from "../../talos/yaml/index.ts";
import type { Fault } from "./fault.ts";
import type { Layers } from "./layers.ts";
import { formatPath } from "./path.ts";
import { type Path, syntaxFault, type YamlSource } from "./yaml-source.ts";

/** The YAML of a patch that a file has as a mapping or as text. */
export const patchText = (patch: unknown): string =>
  typeof patch === "string" ? patch : stringify(patch, { sortMapEntries: true });

interface Place {
  readonly line: number;
  readonly column: number;
}

/** Where the place in a patch is in the file that has the patch. */
type InFile = (place: Place) => Place;

interface Reading {
  readonly inFile: InFile;
  readonly rules: ConfigRules;
}

/** What Talos would not take of a patch in a file of its own, which `path` of the environment refers to. */
export function faultsOfPatchFile(file: string, text: string, path: Path, rules: ConfigRules): readonly Fault[] {
  return faultsOfText(file, text, path, { inFile: (place) => place, rules });
}

/** What Talos would not take of the patch that stands at `path` of the environment, as a mapping or as text. */
export function faultsOfPatch(path: Path, layers: Layers, rules: ConfigRules): readonly Fault[] {
  const { source, node } = layers.findNode(path) ?? {};
  if (source === undefined || node === undefined) return [];
  if (node.kind !== "scalar") return faultsIn(source.file, [node], path, { inFile: (place) => place, rules });
  return faultsOfText(source.file, node.text, path, { inFile: placeOfText(source, node), rules });
}

/** Behind `|` the text begins on the next line, indented; otherwise it stands in quotes, and its start has to do. */
function placeOfText(source: YamlSource, node: YamlScalar): InFile {
  const isBlock = node.text.trimEnd().includes("\n");
  const indent = source.indentOf(node.line + 1);
  return ({ line, column }) => (isBlock ? { line: node.line + line, column: column + indent } : node);
}

function faultsOfText(file: string, text: string, path: Path, reading: Reading): readonly Fault[] {
  let nodes: readonly YamlNode[];
  try {
    nodes = parseYaml(text, file);
  } catch (error) {
    if (!(error instanceof TalosError)) throw error;
    const { position, ...fault } = syntaxFault(error, file, []);
    return [{ ...fault, path: formatPath(path), position: { file, ...reading.inFile(position), text: "" } }];
  }
  return faultsIn(file, nodes, path, reading);
}

/** The secrets in the patch of a file of its own; see secretsOfPatch. */
export function secretsOfPatchFile(file: string, text: string, path: Path): readonly Fault[] {
  return secretsIn(file, text, path, (place) => place);
}

/**
 * Every secret in the patch that stands at `path` of the environment: for the file is checked in, and stacks, plans and
 * states of Terraform hold patches for all to read. None of a patch that cannot be read.
 */
export function secretsOfPatch(path: Path, patch: unknown, layers: Layers): readonly Fault[] {
  const { source, node } = layers.findNode(path) ?? {};
  if (source === undefined || node === undefined) return [];
  const text = patchText(patch);
  if (node.kind === "scalar") return secretsIn(source.file, text, path, placeOfText(source, node));
  return secretsIn(source.file, text, path, (_, keys) => nodeAt(node, keys) ?? node);
}

function secretsIn(
  file: string,
  text: string,
  path: Path,
  inFile: (place: Place, keys: readonly PropertyKey[]) => Place,
): readonly Fault[] {
  let found: ReturnType<typeof secretsInPatch>;
  let nodes: readonly YamlNode[];
  try {
    nodes = parseYaml(text, file);
    found = secretsInPatch(text, file);
  } catch (error) {
    if (error instanceof TalosError) return []; // What is wrong with the patch has been told.
    throw error;
  }
  return found
    .filter(({ certain }) => certain)
    .map(({ path: inner, document, keys }) => {
      const node = nodes[document];
      const { line, column } = inFile((node && nodeAt(node, keys)) ?? node ?? { line: 1, column: 1 }, keys);
      return {
        position: { file, line, column, text: `${" ".repeat(column - 1)}…` },
        path: `${formatPath(path)}: ${inner}`,
        found: "a secret",
        expected:
          "no secret in a patch, which is checked in, and in stacks, plans and states of Terraform for all to read",
        hint: "Put the patch into a file of its own, encrypted with age or SOPS if you like, and name it in cluster.patchFiles.",
      };
    });
}

/** Of the line only an unknown key is shown: a patch may hold secrets. */
function faultsIn(file: string, nodes: readonly YamlNode[], path: Path, { inFile, rules }: Reading): readonly Fault[] {
  return findPatchFaults(nodes, rules).map(({ line, column, path: inner, key: shown = "…", ...words }) => {
    const place = inFile({ line, column });
    return {
      ...words,
      position: { file, line: place.line, column: place.column, text: `${" ".repeat(place.column - 1)}${shown}` },
      path: inner === "" ? formatPath(path) : `${formatPath(path)}: ${inner}`,
    };
  });
}
