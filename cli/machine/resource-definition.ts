// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import type { Resource } from "../../talos/api/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { parseYamlDocument, toPlainData } from "../../talos/yaml/index.ts";

/** What a machine says of one of its resource types. */
export interface ResourceDefinition {
  readonly type: string;
  readonly displayType: string;
  readonly defaultNamespace: string;
  readonly names: readonly string[];
  readonly columns: readonly { readonly name: string; readonly path: string }[];
}

export const definitionsNamespace = "meta";
export const definitionsType = "ResourceDefinitions.meta.cosi.dev";

const schema = z.object({
  type: z.string(),
  displayType: z.string(),
  defaultNamespace: z.string(),
  aliases: z.array(z.string()).nullish(),
  allAliases: z.array(z.string()).nullish(),
  printColumns: z.array(z.object({ name: z.string(), jsonPath: z.string() })).nullish(),
});

export function parseDefinition({ id, yaml }: Pick<Resource, "id" | "yaml">): ResourceDefinition {
  const spec = schema.parse(toPlainData(parseYamlDocument(yaml, id)));
  return {
    type: spec.type,
    displayType: spec.displayType,
    defaultNamespace: spec.defaultNamespace,
    names: [id, spec.type.toLowerCase(), ...(spec.aliases ?? []), ...(spec.allAliases ?? [])],
    columns: (spec.printColumns ?? []).map(({ name, jsonPath }) => ({ name, path: jsonPath })),
  };
}

/** The one definition that a user's word means; the words of talosctl where it means none or several. */
export function resolveDefinition(word: string, definitions: readonly ResourceDefinition[]): ResourceDefinition {
  const found = definitions.filter(({ names }) => names.includes(word.toLowerCase()));
  const [only] = found;
  if (only === undefined) throw new TalosError("not-found", `resource "${word}" is not registered`);
  if (found.length > 1) {
    const types = found.map(({ type }) => type).sort();
    throw new TalosError("invalid-input", `resource type "${word}" is ambiguous: [${types.join(" ")}]`);
  }
  return only;
}
