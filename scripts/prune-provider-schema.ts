// SPDX-License-Identifier: Apache-2.0
// Cuts the output of `tofu providers schema -json` down to what our stacks use, for test/constructs/conformance.test.ts:
//   node --import tsx scripts/prune-provider-schema.ts <schema.json> test/golden/schemas/<provider>.json [<stack.tf.json>...]
// Further stacks are those of examples/, which are not kept.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

interface Attribute {
  type?: unknown;
  required?: boolean;
  optional?: boolean;
  computed?: boolean;
  nested_type?: { nesting_mode: string; attributes?: Record<string, Attribute> };
}
interface Block {
  attributes?: Record<string, Attribute>;
  block_types?: Record<string, { nesting_mode: string; min_items?: number; max_items?: number; block: Block }>;
}

const [input, output, ...further] = process.argv.slice(2);
if (input === undefined || output === undefined)
  throw new Error("usage: prune-provider-schema.ts <schema.json> <output.json> [<stack.tf.json>...]");

type Section = Record<string, Record<string, unknown>>;
// Those of 0.1.0 are applied by test/constructs/offline-apply.test.ts, and have types that no stack has now.
const folders = ["stacks", "former"].map((name) => new URL(`../test/golden/${name}/`, import.meta.url));
const files = [
  ...folders.flatMap((folder) => readdirSync(folder).map((name) => new URL(name, folder))),
  ...further.map((path) => pathToFileURL(path)),
];
const used: Record<"resource" | "data", Map<string, unknown[]>> = { resource: new Map(), data: new Map() };
const configured = new Map<string, unknown[]>();
for (const file of files.filter(({ pathname }) => pathname.endsWith(".tf.json"))) {
  const stack = JSON.parse(readFileSync(file, "utf8")) as Partial<Record<"resource" | "data", Section>> & {
    provider?: Record<string, unknown[]>;
  };
  for (const [name, blocks] of Object.entries(stack.provider ?? {}))
    configured.set(name, [...(configured.get(name) ?? []), ...blocks]);
  for (const kind of ["resource", "data"] as const)
    for (const [type, byId] of Object.entries(stack[kind] ?? {}))
      used[kind].set(type, [...(used[kind].get(type) ?? []), ...Object.values(byId)]);
}

/** The values that stand under `name` in any of the bodies. */
function below(bodies: readonly unknown[], name: string): unknown[] {
  return bodies
    .map((body) => (typeof body === "object" && body !== null ? (body as Record<string, unknown>)[name] : undefined))
    .filter((value) => value !== undefined)
    .flat();
}

function pruneAttributes(
  attributes: Record<string, Attribute>,
  bodies: readonly unknown[],
  whole: boolean,
): Record<string, Attribute> {
  const kept = Object.entries(attributes).filter(
    ([name, { required }]) => whole || required || below(bodies, name).length > 0,
  );
  return Object.fromEntries(
    kept.map(([name, { type, required, optional, computed, nested_type: nested }]) => [
      name,
      {
        ...(type === undefined ? {} : { type }),
        ...(required ? { required } : {}),
        ...(optional ? { optional } : {}),
        ...(computed ? { computed } : {}),
        ...(nested === undefined
          ? {}
          : {
              nested_type: {
                nesting_mode: nested.nesting_mode,
                attributes: pruneAttributes(nested.attributes ?? {}, below(bodies, name), false),
              },
            }),
      },
    ]),
  );
}

function pruneBlock(block: Block, bodies: readonly unknown[], whole: boolean): Block {
  const blocks = Object.entries(block.block_types ?? {}).filter(
    ([name, { min_items = 0 }]) => min_items > 0 || below(bodies, name).length > 0,
  );
  return {
    attributes: pruneAttributes(block.attributes ?? {}, bodies, whole),
    ...(blocks.length === 0
      ? {}
      : {
          block_types: Object.fromEntries(
            blocks.map(([name, { nesting_mode, min_items, max_items, block: inner }]) => [
              name,
              {
                nesting_mode,
                ...(min_items === undefined ? {} : { min_items }),
                ...(max_items === undefined ? {} : { max_items }),
                block: pruneBlock(inner, below(bodies, name), true),
              },
            ]),
          ),
        }),
  };
}

// The copy that we were given has lost every argument called "description"; these types have one.
const described = [
  "aws_security_group",
  "aws_vpc_security_group_ingress_rule",
  "aws_vpc_security_group_egress_rule",
  "aws_kms_key",
];

interface Schemas {
  readonly provider: { readonly block: Block };
  readonly resource_schemas?: Record<string, { readonly block: Block }>;
  readonly data_source_schemas?: Record<string, { readonly block: Block }>;
}

const [[source, schema] = []] = Object.entries(
  (JSON.parse(readFileSync(input, "utf8")) as { provider_schemas: Record<string, Schemas> }).provider_schemas,
);
const name = source?.split("/").at(-1) ?? "";
const pruned = Object.fromEntries(
  (["resource", "data"] as const).map((kind) => {
    const types = schema?.[kind === "resource" ? "resource_schemas" : "data_source_schemas"] ?? {};
    const kept = [...used[kind]]
      .filter(([type]) => types[type] !== undefined)
      .sort(([left], [right]) => (left < right ? -1 : 1));
    return [
      kind,
      Object.fromEntries(
        kept.map(([type, bodies]) => {
          const block = pruneBlock(types[type]?.block ?? {}, bodies, !type.startsWith("libvirt_domain"));
          if (described.includes(type))
            block.attributes = { ...block.attributes, description: { type: "string", optional: true } };
          return [type, block];
        }),
      ),
    ];
  }),
);
const provider = pruneBlock(schema?.provider.block ?? {}, configured.get(name) ?? [], false);
writeFileSync(output, `${JSON.stringify({ provider, ...pruned })}\n`);
