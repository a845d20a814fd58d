// SPDX-License-Identifier: Apache-2.0
// Reads a provider's schema out of a published package of prebuilt CDK bindings, for providers that cannot be run here:
//   node --import tsx scripts/schema-from-bindings.ts <package folder> <type>=<folder in lib>... computed:<type.argument>... > schema.json
// Its output is in the form of `tofu providers schema -json`, for prune-provider-schema.ts.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const [folder = "", ...types] = process.argv.slice(2);

function sourceOf(name: string, ending: ".js" | ".d.ts"): string {
  const directory = join(folder, "lib", name);
  const structs = join(directory, "index-structs");
  const files = existsSync(structs) ? readdirSync(structs).filter((file) => file.endsWith(ending)) : [];
  return [join(directory, `index${ending}`), ...files.map((file) => join(structs, file))]
    .map((file) => readFileSync(file, "utf8"))
    .join("\n");
}

/** The fields without a question mark in the interface of a struct, in lower case: these are required. */
function requiredOf(declarations: string, struct: string): ReadonlySet<string> {
  const start = declarations.search(new RegExp(`^export interface ${struct}\\b`, "mi"));
  const body = start === -1 ? "" : declarations.slice(start, declarations.indexOf("\n}", start));
  return new Set([...body.matchAll(/readonly (\w+):/g)].map(([, name = ""]) => name.toLowerCase()));
}

const simpleTypes: Readonly<Record<string, unknown>> = {
  string: "string",
  number: "number",
  boolean: "bool",
  stringList: ["list", "string"],
  numberList: ["list", "number"],
  stringMap: ["map", "string"],
};

/** The body of `const attrs = {…}` in the function that writes a struct, or the resource itself. */
function attrsOf(source: string, struct: string | undefined): string {
  const start =
    struct === undefined
      ? source.indexOf("synthesizeHclAttributes() {")
      : source.search(new RegExp(`^function ${struct}ToHclTerraform\\(`, "mi"));
  if (start === -1) throw new Error(`no ${struct ?? "synthesizeHclAttributes"} in the bindings`);
  const rest = source.slice(source.indexOf("const attrs = {", start));
  return rest.slice(0, rest.search(/^ {4,8}\};/m));
}

interface Bindings {
  readonly source: string;
  readonly declarations: string;
}

function blockOf(bindings: Bindings, name: string, path: string, struct?: string): object {
  const required = requiredOf(bindings.declarations, struct ?? `${name}Config`);
  const attributes: Record<string, object> = {};
  const blocks: Record<string, object> = {};
  const entries = attrsOf(bindings.source, struct).matchAll(
    /(\w+): \{\s*value: ([^\n]+),\s*isBlock: (\w+),\s*type: "(\w+)",\s*storageClassType: "(\w+)"/g,
  );
  for (const [, key = "", value = "", isBlock, type = "", storage = ""] of entries) {
    const isRequired = required.has(key.replaceAll("_", "").toLowerCase());
    const inner = /(\w+)ToHclTerraform/.exec(value.replaceAll(/cdkt[fn]\.\w+ToHclTerraform/g, ""))?.[1];
    const at = `${path}.${key}`;
    if (isBlock === "true" && inner !== undefined) {
      const listed = value.includes("listMapperHcl");
      const mode = type === "set" ? "set" : "list";
      const count = { ...(listed ? {} : { max_items: 1 }), ...(isRequired ? { min_items: 1 } : {}) };
      blocks[key] = { nesting_mode: mode, ...count, block: blockOf(bindings, inner, at, inner) };
    } else {
      const known = isRequired
        ? { required: true }
        : { optional: true, ...(computed.has(at) ? { computed: true } : {}) };
      attributes[key] = { type: simpleTypes[storage] ?? "dynamic", ...known };
    }
  }
  for (const key of [...computed]
    .filter((each) => each.startsWith(`${path}.`))
    .map((each) => each.slice(path.length + 1)))
    if (!key.includes(".") && blocks[key] === undefined) attributes[key] ??= { type: "string", computed: true };
  if (struct === undefined) attributes.id = { type: "string", optional: true, computed: true };
  return { attributes, block_types: blocks };
}

// Bindings do not tell which arguments the provider fills in itself: those that our stacks refer to are named.
const computed = new Set(types.filter((argument) => argument.startsWith("computed:")).map((text) => text.slice(9)));
const schemas = types
  .filter((argument) => argument.includes("="))
  .map((pair) => {
    const [type = "", directory = ""] = pair.split("=");
    const name = directory.replaceAll(/(^|-)(\w)/g, (_, _dash, letter: string) => letter.toUpperCase());
    const bindings = { source: sourceOf(directory, ".js"), declarations: sourceOf(directory, ".d.ts") };
    return [type, { block: blockOf(bindings, name, type) }] as const;
  });
const provider = { resource_schemas: Object.fromEntries(schemas), data_source_schemas: {} };
process.stdout.write(`${JSON.stringify({ provider_schemas: { bindings: provider } })}\n`);
