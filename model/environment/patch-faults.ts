// SPDX-License-Identifier: Apache-2.0
import { type ConfigRules, findPatchFaults } from "../../talos/config/patch/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { parseYaml, type YamlNode } from "../../talos/yaml/index.ts";
import type { Fault } from "./fault.ts";
import type { Layers } from "./layers.ts";
import { formatPath } from "./path.ts";
import { type Path, syntaxFault } from "./yaml-source.ts";

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
  // Behind `|` the text begins on the next line, indented; otherwise it stands in quotes, and its start has to do.
  const isBlock = node.text.trimEnd().includes("\n");
  const indent = source.indentOf(node.line + 1);
  const inFile: InFile = ({ line, column }) => (isBlock ? { line: node.line + line, column: column + indent } : node);
  return faultsOfText(source.file, node.text, path, { inFile, rules });
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
