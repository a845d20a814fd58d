// SPDX-License-Identifier: Apache-2.0
import { parseYaml, type YamlNode } from "../../yaml/index.ts";
import { entryText } from "../document/config-file.ts";

/** What a patch sets at a place of a config. */
export interface PatchPlace {
  /** The text of the patch. Secret. */
  readonly patch: string;
  /** Which document of it, from 0. */
  readonly document: number;
  /** Path of the setting in that document; empty for the document itself. */
  readonly keys: readonly string[];
}

/**
 * The last patch that sets something at a place: a document by kind and name, `v1alpha1` or `LinkConfig/eth0`, and a path
 * in it. Undefined where none does; operations (RFC 6902) and what is no YAML are not looked into.
 */
export function patchSetting(patches: readonly string[], document: string, path: string): PatchPlace | undefined {
  const keys = path === "" ? [] : path.split(".");
  for (const patch of [...patches].reverse()) {
    const nodes = parseYaml(patch, "patch");
    const index = nodes.findLastIndex((node) => titleOf(node) === document && lineOfKey(node, keys) !== undefined);
    if (index >= 0) return { patch, document: index, keys };
  }
  return undefined;
}

/** The line of the key at a path; undefined where nothing is there. */
export function lineOfKey(node: YamlNode, keys: readonly string[]): number | undefined {
  let [line, value] = [node.line, node];
  for (const key of keys) {
    const entry = value.kind === "mapping" ? value.entries.find((one) => one.key.text === key) : undefined;
    if (entry === undefined) return undefined;
    [line, value] = [entry.key.line, entry.value];
  }
  return line;
}

function titleOf(node: YamlNode): string {
  if (node.kind !== "mapping") return "";
  const [kind, name] = [entryText(node, "kind"), entryText(node, "name")];
  if (!kind) return "v1alpha1";
  return name ? `${kind}/${name}` : kind;
}
