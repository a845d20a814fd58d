// SPDX-License-Identifier: Apache-2.0
import { environmentReference } from "../model/index.ts";

/** As much of JSON Schema as the environment's schema is made of. */
interface Field {
  readonly description?: string;
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Field;
  readonly properties?: Readonly<Record<string, Field>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Field | boolean;
  readonly anyOf?: readonly Field[];
  readonly oneOf?: readonly Field[];
}

const introduction = `# Configuration: every field

Written by \`npm run generate:schema\` from the same schema that checks environment files. What the sections are for is in
[environments.md](environments.md); this page is for looking up. A **bold** field has to be said
where its section or its choice is used. \`[]\` is each item of a list, \`<name>\` any key of a mapping. \`controlPlaneRef\` and \`workerRef\` take
the place of \`controlPlane\` and of an item of \`workers\`: [how files are put together](environments.md#how-files-are-put-together).
`;

/** docs/configuration.md: each field of an environment with its type, its default and what it means. */
export function configurationPage(): string {
  const { sections, kinds } = environmentReference();
  const shared = [...sections].map(([name, schema]) => section(`## ${name}`, name, schema as Field));
  const byKind = [...kinds].flatMap(([kind, parts]) => [
    `## infrastructure.kind: ${kind}\n`,
    ...[...parts].map(([name, schema]) => section(`### ${name} of ${kind}`, name, schema as Field)),
  ]);
  return [introduction, ...shared, ...byKind].join("\n");
}

function section(heading: string, name: string, schema: Field): string {
  const rows = [...new Set(fieldsOf(name, schema))];
  const lead = schema.description === undefined ? "" : `${plain(schema.description)}\n\n`;
  return `${heading}\n\n${lead}| field | type | default | meaning |\n|---|---|---|---|\n${rows.join("\n")}\n`;
}

/** One row per field, parents before their children. */
function fieldsOf(path: string, schema: Field): string[] {
  const inner = Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const own = `${path}.${name}`;
    return [row(own, field, schema.required?.includes(name) ?? false), ...fieldsOf(own, field)];
  });
  const values =
    typeof schema.additionalProperties === "object" ? fieldsOf(`${path}.<name>`, schema.additionalProperties) : [];
  const items = schema.items === undefined ? [] : fieldsOf(`${path}[]`, schema.items);
  const choices = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap((choice) => fieldsOf(path, choice));
  return [...inner, ...values, ...items, ...choices];
}

function row(path: string, field: Field, required: boolean): string {
  const name = required && field.default === undefined ? `**\`${path}\`**` : `\`${path}\``;
  const { meaning, standard } = split(plain(field.description ?? ""));
  return `| ${name} | ${cell(typeOf(field))} | ${cell(defaultOf(field) ?? standard)} | ${cell(meaning)} |`;
}

/** A description ends with "Default: …" where the default is no single value. */
function split(description: string): { readonly meaning: string; readonly standard: string } {
  const [, meaning = description, standard = ""] =
    /^(.*?)\s*\bDefault(?: for one that is made)?: (.*?)\.?$/s.exec(description) ?? [];
  return { meaning, standard };
}

function defaultOf({ default: value }: Field): string | undefined {
  if (value === undefined || (typeof value === "object" && value !== null && Object.keys(value).length === 0))
    return undefined;
  return `\`${typeof value === "string" ? value : JSON.stringify(value)}\``;
}

function typeOf(field: Field): string {
  const choices = field.anyOf ?? field.oneOf;
  if (choices !== undefined) return [...new Set(choices.map(typeOf))].join(" or ");
  if (field.const !== undefined) return `\`${String(field.const)}\``;
  if (field.enum !== undefined) return field.enum.map((word) => `\`${String(word)}\``).join(", ");
  if (field.type === "array") return field.items === undefined ? "list" : `list of ${plural(typeOf(field.items))}`;
  if (field.type === "object") return field.properties === undefined ? mapType(field) : "mapping";
  if (field.type === "integer" || field.type === "number") return numberType(field);
  return field.type ?? "any value";
}

function mapType({ additionalProperties: values }: Field): string {
  if (typeof values !== "object" || Object.keys(values).length === 0) return "mapping";
  return `mapping to ${plural(typeOf(values))}`;
}

function numberType({ type, minimum, maximum }: Field): string {
  const word = type === "integer" ? "whole number" : "number";
  if (minimum === undefined && maximum === undefined) return word;
  if (maximum === undefined || maximum === Number.MAX_SAFE_INTEGER) return `${word}, ${minimum} or more`;
  return `${word}, ${minimum ?? "up"} to ${maximum}`;
}

const plural = (type: string) => (/^(string|mapping|list|whole number)$/.test(type) ? `${type}s` : type);

/** Words in angle brackets would be taken for HTML. */
const plain = (text: string) => text.replaceAll("<", "\\<");

/** No line break and no bar may end a cell of a table. */
const cell = (text: string) => text.replaceAll("\n", " ").replaceAll("|", "\\|");
