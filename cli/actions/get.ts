// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import type { Resource } from "../../talos/api/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { given } from "../../talos/given.ts";
import { parseYamlDocument, toPlainData } from "../../talos/yaml/index.ts";
import type { CommandContext } from "../context.ts";
import type { GetFlags } from "../machine/target-flags.ts";
import { type Target, withTargets } from "../machine/targets.ts";
import { table } from "../output/table.ts";

interface Found {
  readonly node: string;
  readonly resource: Resource;
}

interface Wanted {
  /** Type or alias, as the user wrote it. */
  readonly word: string;
  readonly id: string | undefined;
  readonly flags: GetFlags;
}

export async function get(
  word: string,
  id: string | undefined,
  flags: GetFlags,
  context: CommandContext,
): Promise<void> {
  const wanted = { word, id, flags: flags.json ? { ...flags, output: "json" as const } : flags };
  await withTargets(flags, context, async (targets) => {
    // A watch has no end, so that none can wait for another.
    if (flags.watch) await Promise.all(targets.map((target) => watch(target, wanted, context)));
    else await show(targets, wanted, context);
  });
}

async function show(targets: readonly Target[], wanted: Wanted, context: CommandContext): Promise<void> {
  const found: Found[] = [];
  let definition: ResourceDefinition | undefined;
  for (const target of targets) {
    definition = await definitionOn(target, wanted.word);
    const namespace = wanted.flags.namespace ?? definition.defaultNamespace;
    const resources = await read(target, definition.type, namespace, wanted.id);
    found.push(...resources.map((resource) => ({ node: target.node, resource })));
  }
  if (definition !== undefined) context.stdout.write(print(found, definition, wanted.flags.output));
}

async function definitionOn({ client, call }: Target, word: string): Promise<ResourceDefinition> {
  const definitions = await client.listResources(definitionsNamespace, definitionsType, call);
  return resolveDefinition(word, definitions.map(parseDefinition));
}

async function read(
  { client, call }: Target,
  type: string,
  namespace: string,
  id: string | undefined,
): Promise<Resource[]> {
  if (id === undefined) return client.listResources(namespace, type, call);
  const resource = await client.getResource(namespace, type, id, call);
  if (resource === undefined) {
    throw new TalosError("not-found", `resource ${type}(${namespace}/${id}@undefined) doesn't exist`);
  }
  return [resource];
}

async function watch(target: Target, { word, id, flags }: Wanted, context: CommandContext): Promise<void> {
  const { client, node, call } = target;
  const { output } = flags;
  try {
    const definition = await definitionOn(target, word);
    const namespace = flags.namespace ?? definition.defaultNamespace;
    const changes = client.watchResources(namespace, definition.type, { ...call, ...given({ id }) });
    for await (const change of changes) {
      if (change.kind === "complete" || change.kind === "restarted") continue;
      const text = print([{ node, resource: change.resource }], definition, output);
      context.stdout.write(output === "table" ? `${change.kind.padEnd(9)} ${text.split("\n")[1]}\n` : text);
    }
  } catch (error) {
    if (!context.signal.aborted) throw error;
  }
}

function print(found: readonly Found[], definition: ResourceDefinition, output: GetFlags["output"]): string {
  if (output === "table") {
    const headings = ["node", "namespace", "type", "id", "version", ...definition.columns.map(({ name }) => name)];
    return table(
      headings,
      found.map((one) => row(one, definition)),
    );
  }
  if (output === "json") return found.map((one) => `${JSON.stringify(object(one), undefined, 4)}\n`).join("");
  return found.map(yamlText).join("---\n");
}

function row({ node, resource }: Found, { displayType, columns }: ResourceDefinition): string[] {
  const spec = specOf(resource);
  const cells = columns.map(({ path }) => cellAt(spec, path));
  return [node, resource.namespace, displayType, resource.id, resource.version, ...cells];
}

function object({ node, resource }: Found): unknown {
  const { namespace, type, id, version, phase } = resource;
  return { node, metadata: { namespace, type, id, version: Number(version), phase }, spec: specOf(resource) };
}

/** The machine's own YAML below our head, so that not a byte of it changes. */
function yamlText({ node, resource }: Found): string {
  const { namespace, type, id, version, phase, yaml } = resource;
  const metadata = { namespace, type, id, version, phase };
  const head = Object.entries(metadata).map(([key, value]) => `    ${key}: ${value}\n`);
  const spec = yaml.trimEnd().replaceAll(/^(?=.)/gm, "    ");
  return `node: ${node}\nmetadata:\n${head.join("")}spec:\n${spec}\n`;
}

function specOf({ yaml, id }: Resource): unknown {
  return yaml === "" ? undefined : toPlainData(parseYamlDocument(yaml, id));
}

/** The value at a print column's path, such as `{.stage}` or `{.addresses[*].ip}`, as one cell of a table. */
function cellAt(value: unknown, path: string): string {
  const parts = path.replace(/^\{|\}$/g, "").match(/\["?[^\]"]+"?\]|[^.[\]]+/g) ?? [];
  const found = parts.reduce<unknown[]>((values, part) => values.flatMap((one) => step(one, part)), [value]);
  return found.map(cell).join(" ");
}

function step(value: unknown, part: string): unknown[] {
  if (part === "[*]") return Array.isArray(value) ? value : Object.values(value ?? {});
  const key = part.replace(/^\["?|"?\]$/g, "");
  const next = (value as Record<string, unknown> | undefined | null)?.[key];
  return next === undefined ? [] : [next];
}

function cell(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
}

/** What a machine says of one of its resource types. */
interface ResourceDefinition {
  readonly type: string;
  readonly displayType: string;
  readonly defaultNamespace: string;
  readonly names: readonly string[];
  readonly columns: readonly { readonly name: string; readonly path: string }[];
}

const definitionsNamespace = "meta";
const definitionsType = "ResourceDefinitions.meta.cosi.dev";

const schema = z.object({
  type: z.string(),
  displayType: z.string(),
  defaultNamespace: z.string(),
  aliases: z.array(z.string()).nullish(),
  allAliases: z.array(z.string()).nullish(),
  printColumns: z.array(z.object({ name: z.string(), jsonPath: z.string() })).nullish(),
});

function parseDefinition({ id, yaml }: Pick<Resource, "id" | "yaml">): ResourceDefinition {
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
function resolveDefinition(word: string, definitions: readonly ResourceDefinition[]): ResourceDefinition {
  const found = definitions.filter(({ names }) => names.includes(word.toLowerCase()));
  const [only] = found;
  if (only === undefined) throw new TalosError("not-found", `resource "${word}" is not registered`);
  if (found.length > 1) {
    const types = found.map(({ type }) => type).sort();
    throw new TalosError("invalid-input", `resource type "${word}" is ambiguous: [${types.join(" ")}]`);
  }
  return only;
}
