// SPDX-License-Identifier: Apache-2.0
import { given } from "../../talos/given.ts";
import type { Item } from "./item.ts";
import { type ResourceType, resourceTypes } from "./types.ts";

/** Two types share the first part of their name; the older one has only the alias it was given. */
const shadowed: ReadonlySet<string> = new Set(["MountStatuses.runtime.talos.dev"]);

/** The resource definitions that talosctl reads to resolve names and print tables. */
export const resourceDefinitions: readonly Item[] = resourceTypes.map((type) => ({
  id: type.type.toLowerCase(),
  spec: definitionSpec(type),
}));

const byType = new Map(resourceTypes.map((type) => [type.type, type]));

export function resourceType(type: string): ResourceType | undefined {
  return byType.get(type);
}

const namespaceNames = [
  ...new Set(["cluster-raw", "network-config", ...resourceTypes.map((type) => type.namespace)]),
].sort();

export const namespaces: readonly Item[] = namespaceNames.map((id) => ({
  id,
  spec: { description: `${id} resources` },
}));

function definitionSpec(type: ResourceType): Readonly<Record<string, unknown>> {
  const [plural = "", ...suffix] = type.type.split(".");
  const aliases = shadowed.has(type.type) ? [...type.aliases] : [...type.aliases, ...derivedAliases(plural)];
  const lower = plural.toLowerCase();
  const dotted = suffix.map((_, index) => [lower, ...suffix.slice(0, index + 1)].join(".")).slice(0, -1);
  return given({
    type: type.type,
    displayType: singular(plural),
    aliases,
    allAliases: [lower, ...aliases, ...dotted],
    defaultNamespace: type.namespace,
    printColumns: type.columns.map((column) => {
      const split = column.indexOf("=");
      return { name: column.slice(0, split), jsonPath: column.slice(split + 1) };
    }),
    sensitivity: type.secret ? "sensitive" : undefined,
  });
}

/** Singular, and the capitals of the name when there is more than one. */
function derivedAliases(plural: string): string[] {
  const capitals = plural.replace(/[^A-Z]/g, "").toLowerCase();
  const aliases = [singular(plural).toLowerCase()];
  if (capitals.length > 1) aliases.push(capitals);
  if (capitals.length > 1 && !capitals.endsWith("s")) aliases.push(`${capitals}s`);
  return aliases;
}

/** As the resource library forms it, mistakes included (`caches` gives `cach`). */
function singular(plural: string): string {
  if (plural.endsWith("ies")) return `${plural.slice(0, -3)}y`;
  if (/(ss|us|ch|sh|x)es$/.test(plural)) return plural.slice(0, -2);
  return plural.slice(0, -1);
}
