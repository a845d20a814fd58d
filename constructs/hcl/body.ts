// SPDX-License-Identifier: Apache-2.0
import { alignLines, isObject, type Json, type JsonObject, printAssignments } from "./expression.ts";

/** Arguments whose values are addresses rather than expressions. */
const addressLists: ReadonlySet<string> = new Set(["depends_on", "ignore_changes", "replace_triggered_by"]);

/** Which arguments are blocks, by dotted path inside a resource; all others are attributes. */
export type BlockPaths = ReadonlySet<string>;

/** `name "label" … {` to `}`. */
export function printBlock(header: string, body: JsonObject, blocks: BlockPaths, indent = "", path = ""): string {
  const text = printBody(body, blocks, `${indent}  `, path);
  return text === "" ? `${indent}${header} {}` : `${indent}${header} {\n${text}\n${indent}}`;
}

function printBody(body: JsonObject, blocks: BlockPaths, indent: string, path: string): string {
  const at = (name: string) => (path === "" ? name : `${path}.${name}`);
  const entries = Object.entries(body).filter(([name]) => name !== "//");
  const nested = entries.filter(([name]) => blocks.has(at(name)));
  const dynamic = entries.filter(([name]) => name === "dynamic");
  const provisioners = entries.filter(([name]) => name === "provisioner");
  const references = entries.filter(([name, value]) => isReference(name, value));
  // As in HashiCorp's style: how many of it first, and apart.
  const [many, others] = [entries.filter(isMany), entries.filter((entry) => !isMany(entry))];
  const attributes = others
    .filter((entry) => ![...nested, ...references, ...dynamic, ...provisioners].includes(entry))
    .sort((left, right) => weight(left, indent) - weight(right, indent));
  const parts = [
    ...many.map((entry) => printAssignments([entry], indent, (name) => name)),
    ...(attributes.length === 0 ? [] : [printAssignments(attributes, indent, (name) => name)]),
    ...nested.flatMap(([name, value]) =>
      bodies(value).map((inner) => printBlock(name, inner, blocks, indent, at(name))),
    ),
    ...dynamic.flatMap(([, byName]) => printDynamic(byName, blocks, indent, at)),
    ...provisioners.flatMap(([, list]) => bodies(list).flatMap((byType) => printProvisioners(byType, indent))),
    ...(references.length === 0
      ? []
      : [
          alignLines(
            references.map(([name, value]) => ({ name, text: printReference(name, value, indent) })),
            indent,
          ),
        ]),
  ];
  return parts.join("\n\n");
}

/** Blocks that a block has as often as a map has entries. */
function printDynamic(value: Json, paths: BlockPaths, indent: string, at: (name: string) => string): readonly string[] {
  return Object.entries(isObject(value) ? value : {}).flatMap(([name, inner]) => {
    const content = new Set([...paths].map((path) => path.replace(at(name), `${at(name)}.content`)));
    return bodies(inner).map((body) =>
      printBlock(`dynamic "${name}"`, body, new Set([...content, `${at(name)}.content`]), indent, at(name)),
    );
  });
}

function printProvisioners(byType: JsonObject, indent: string): readonly string[] {
  return Object.entries(byType).flatMap(([type, value]) =>
    bodies(value).map((body) => printBlock(`provisioner "${type}"`, body, new Set(), indent)),
  );
}

const isMany = ([name]: readonly [string, Json]) => name === "for_each";

/** The name first, then what fits on a line, then the rest. */
function weight([name, value]: readonly [string, Json], indent: string): number {
  if (name === "name") return 0;
  return printAssignments([[name, value]], indent, (key) => key).includes("\n") ? 2 : 1;
}

function bodies(value: Json): readonly JsonObject[] {
  return (Array.isArray(value) ? value : [value]).filter(isObject);
}

function isReference(name: string, value: Json): boolean {
  return (addressLists.has(name) && Array.isArray(value)) || (name === "provider" && typeof value === "string");
}

/** Addresses stand bare in HCL; in JSON they are texts. */
function printReference(name: string, value: Json, indent: string): string {
  if (!Array.isArray(value)) return String(value);
  const items = value.map(String);
  const line = `[${items.join(", ")}]`;
  if (indent.length + name.length + line.length <= 97) return line;
  return `[\n${items.map((item) => `${indent}  ${item},`).join("\n")}\n${indent}]`;
}
