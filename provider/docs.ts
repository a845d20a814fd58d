// SPDX-License-Identifier: Apache-2.0
import {
  type Attribute,
  type Attributes,
  type ProviderFunction,
  type Schema,
  schemaOf,
  type Type,
  typeToJson,
} from "./framework/index.ts";
import { talosmithProvider } from "./types/index.ts";

/** The text of an example by its name, such as `resources/cluster.tf`; undefined when there is none. */
export type Example = (name: string) => string | undefined;

/** The provider's reference in the registry's form, from its schemas: file name to Markdown. */
export function providerDocs(example: Example): ReadonlyMap<string, string> {
  const provider = talosmithProvider({ workingDirectory: "/", environment: {}, daemonCommand: ["node"] });
  const docs = new Map<string, string>();
  docs.set("index.md", page("talosmith", "Provider", schemaOf(provider), example("provider.tf")));
  const kinds = [
    ["resources", "Resource", provider.resources],
    ["data-sources", "Data Source", provider.dataSources],
    ["ephemeral-resources", "Ephemeral Resource", provider.ephemeralResources],
    ["actions", "Action", provider.actions],
    ["list-resources", "List Resource", provider.lists],
  ] as const;
  for (const [folder, kind, types] of kinds) {
    for (const type of types) {
      const name = type.name.replace(/^talosmith_/, "");
      const text = page(type.name, kind, schemaOf(type), example(`${folder}/${name}.tf`));
      const imported = "import" in type && type.import !== undefined ? importSection(type.name) : "";
      const identity =
        "identity" in type && type.identity !== undefined ? identitySection(type.identity.attributes) : "";
      docs.set(`${folder}/${name}.md`, text + imported + identity);
    }
  }
  for (const definition of provider.functions)
    docs.set(`functions/${definition.name}.md`, functionPage(definition, example(`functions/${definition.name}.tf`)));
  return docs;
}

function page(name: string, kind: string, schema: Schema, example: string | undefined): string {
  return `${head(`${name} ${kind}${kind === "Provider" ? "" : " - talosmith"}`, schema.description)}
# ${name} ${kind === "Provider" ? kind : `(${kind})`}

${schema.description}
${exampleSection(example)}
## Schema
${attributeSections(schema.attributes)}${nestedSections(schema.attributes, "")}`;
}

function head(title: string, description: string): string {
  return `---
page_title: "${title}"
description: |-
  ${description.replaceAll("\n", "\n  ")}
---
`;
}

function exampleSection(example: string | undefined): string {
  return example === undefined ? "" : `\n## Example Usage\n\n\`\`\`terraform\n${example.trim()}\n\`\`\`\n`;
}

/** A block that may be repeated is always there for us, but need not be written. */
const isRequired = ({ mode, nested }: Attribute) =>
  nested?.block === undefined ? mode === "required" : (nested.block.min ?? 0) > 0;

const sections = [
  ["Required", isRequired],
  ["Optional", (attribute: Attribute) => attribute.mode !== "computed" && !isRequired(attribute)],
  ["Read-Only", (attribute: Attribute) => attribute.mode === "computed"],
] as const;

function attributeSections(attributes: Attributes, prefix = ""): string {
  return sections
    .map(([title, belongs]) => {
      const lines = Object.entries(attributes)
        .filter(([, attribute]) => belongs(attribute))
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, attribute]) => attributeLine(name, attribute, prefix));
      return lines.length === 0 ? "" : `\n### ${title}\n\n${lines.join("\n")}\n`;
    })
    .join("");
}

function attributeLine(name: string, attribute: Attribute, prefix: string): string {
  const marks = [typeName(attribute), attribute.sensitive && "Sensitive", attribute.writeOnly && "Write-only"];
  const nested =
    attribute.nested === undefined ? "" : ` (see [below for nested schema](#nestedatt--${anchor(prefix, name)}))`;
  const replaced = attribute.replaces ? " A change replaces the resource." : "";
  return `- \`${name}\` (${marks.filter(Boolean).join(", ")}) ${attribute.description}${replaced}${nested}`;
}

function nestedSections(attributes: Attributes, prefix: string): string {
  return Object.entries(attributes)
    .filter(([, attribute]) => attribute.nested !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { nested }]) => {
      const path = prefix === "" ? name : `${prefix}.${name}`;
      const inner = nested?.attributes ?? {};
      const title = `\n<a id="nestedatt--${anchor(prefix, name)}"></a>\n### Nested Schema for \`${path}\`\n`;
      return title + attributeSections(inner, path).replaceAll("\n### ", "\n#### ") + nestedSections(inner, path);
    })
    .join("");
}

const anchor = (prefix: string, name: string) => (prefix === "" ? name : `${prefix.replaceAll(".", "--")}--${name}`);

function typeName({ type, nested }: Attribute): string {
  if (nested === undefined) return words(type);
  const { nesting, block } = nested;
  const word = block === undefined ? "Attributes" : "Block";
  const items = [block?.min && `Min: ${block.min}`, block?.max && `Max: ${block.max}`].filter(Boolean);
  return nesting === "single" ? word : [`${word} ${capital(nesting)}`, ...items].join(", ");
}

function words(type: Type): string {
  if (type.kind === "list" || type.kind === "set" || type.kind === "map")
    return `${capital(type.kind)} of ${words(type.element)}`;
  return type.kind === "bool" ? "Boolean" : capital(String(typeToJson(type)));
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

function importSection(name: string): string {
  const id = importIds[name];
  if (id === undefined) throw new Error(`${name} can be imported, but the docs do not say by what`);
  return `\n## Import\n\n${id.text}\n\n\`\`\`shell\nterraform import ${name}.example ${id.example}\n\`\`\`\n`;
}

function identitySection(attributes: Readonly<Record<string, string>>): string {
  const lines = Object.entries(attributes).map(([name, text]) => `- \`${name}\` (String) ${text}`);
  return `\n### Identity Schema\n\nFor \`identity\` of an \`import\` block, from Terraform 1.12 on:\n\n${lines.join("\n")}\n`;
}

/** What a user types to import a type. */
const importIds: Readonly<Record<string, { readonly text: string; readonly example: string }>> = {
  talosmith_addon: {
    text: "By the address of a control plane, the namespace and the name of the release. Helm does not tell where a chart came from, so that the first plan shows the attributes as new; its apply leaves a release alone that was made by talosmith from the same chart and values, and upgrades any other to what the configuration says.",
    example: "10.0.0.70/kube-system/cilium",
  },
  talosmith_etcd_snapshot: {
    text: "By its folder, relative to the project's root, and its name; in S3 by its URL, `s3://bucket/prefix/name`, which `region`, `endpoint`, `path_style`, `sse`, `kms_key_id` and `profile` may follow as in `?region=eu-central-1`. `triggers` can't be imported: the first apply only stores them, and later changes take a new backup. Nor can `pki_age_recipients`: where the configuration has them, the first apply takes a new backup, because nothing tells for whom the old one was encrypted.",
    example: "backups/demo/demo-20261116T120000Z-3f9a",
  },
  talosmith_cluster: {
    text: "By the address of one of its control planes. `config_contract` is found by comparing its config with those of all contracts. What machines do not know of themselves can't be imported: `fingerprint`, `member_id`, `hardware_id`, `patches`, `patch_files` and `meta`. Where the configuration has them, the first plan shows them as new; with a `fingerprint`, `member_id` or `hardware_id` alone it has no steps, and its apply only stores them.",
    example: "10.0.0.70",
  },
  talosmith_client_files: {
    text: "By the paths of kubeconfig and talosconfig, relative to the project's root, with a comma between them.",
    example: "generated/demo/kubeconfig,generated/demo/talosconfig",
  },
  talosmith_cloud_init: {
    text: "By the path of the image, relative to the project's root.",
    example: "generated/demo/demo-cp-1.iso",
  },
  talosmith_member: {
    text: "By the cluster's name, the machine's name, its `machine_id` and its address, with commas between them.",
    example: "demo,demo-w-1,i-0123456789abcdef0,10.0.0.80",
  },
  talosmith_secrets: {
    text: "By the path of a secrets file, relative to the project's root. It may be encrypted with age (`.age`) or SOPS (`.sops.yaml`).",
    example: "secrets/demo.yaml",
  },
  talosmith_simulated_machine: {
    text: "By its id in the simulator.",
    example: "41e6d487-6fb7-4623-b546-63b80d98bdaa",
  },
};

function functionPage(definition: ProviderFunction, example: string | undefined): string {
  const { name, summary, description, parameters, variadic, returns } = definition;
  const all = variadic === undefined ? parameters : [...parameters, variadic];
  const signature = all.map(
    (parameter) => `${parameter.name} ${words(parameter.type).toLowerCase()}${parameter === variadic ? "..." : ""}`,
  );
  return `${head(`${name} function - talosmith`, summary)}
# function: ${name}

${description}
${exampleSection(example)}
## Signature

\`\`\`text
${name}(${signature.join(", ")}) ${words(returns).toLowerCase()}
\`\`\`

## Arguments

${all.map((parameter, index) => `${index + 1}. \`${parameter.name}\` (${words(parameter.type)}${parameter === variadic ? ", Variadic" : ""}) ${parameter.description}`).join("\n")}
`;
}
