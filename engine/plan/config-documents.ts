// SPDX-License-Identifier: Apache-2.0
import { parseYaml, type YamlNode } from "../../talos/yaml/index.ts";

/**
 * Configs are long, and a plan reads the two of each machine several times in a row; so the last ones are remembered.
 * Few, because they hold secrets.
 */
const recent = new Map<string, readonly YamlNode[]>();
const most = 8;

/** The documents of a machine config, whether the schema knows what is in them or not: a machine may be newer. */
export function configDocuments(config: string): readonly YamlNode[] {
  const documents = recent.get(config) ?? parseYaml(config, "machine config");
  recent.delete(config);
  recent.set(config, documents);
  const [oldest] = recent.keys();
  if (recent.size > most && oldest !== undefined) recent.delete(oldest);
  return documents;
}
