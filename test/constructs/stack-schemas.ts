// SPDX-License-Identifier: Apache-2.0
// The schemas of all providers of our stacks, and what a stack has that they do not take.
import { readFileSync } from "node:fs";
import { evaluateStack, type JsonObject } from "../../constructs/index.ts";
import { type Attributes, schemaOf, typeToJson } from "../../provider/framework/index.ts";
import { talosmithProvider } from "../../provider/types/index.ts";
import { repositoryRoot, type StackJson } from "./project.ts";
import { type Attribute, type Block, checkBody, type ProviderSchema } from "./schema-walker.ts";

const read = (name: string) =>
  JSON.parse(readFileSync(new URL(`../golden/schemas/${name}.json`, import.meta.url), "utf8")) as ProviderSchema;

/** The schema that our provider really serves, in the form of the others. */
function ownSchema(): ProviderSchema {
  const provider = talosmithProvider({ workingDirectory: repositoryRoot, environment: {}, daemonCommand: ["node"] });
  const blocks = (types: readonly Parameters<typeof schemaOf>[0][], names: readonly string[]) =>
    Object.fromEntries(
      types.map((type, index) => [names[index] ?? "", { attributes: convert(schemaOf(type).attributes) }]),
    );
  return {
    resource: blocks(
      provider.resources,
      provider.resources.map(({ name }) => name),
    ),
    data: blocks(
      provider.dataSources,
      provider.dataSources.map(({ name }) => name),
    ),
  };
}

function convert(attributes: Attributes): Record<string, Attribute> {
  return Object.fromEntries(
    Object.entries(attributes).map(([name, { mode, type, nested }]) => [
      name,
      {
        required: mode === "required",
        optional: mode === "optional" || mode === "defaulted",
        ...(nested === undefined
          ? { type: typeToJson(type) as Attribute["type"] & {} }
          : { nested_type: { nesting_mode: nested.nesting, attributes: convert(nested.attributes) } }),
      },
    ]),
  );
}

const served = ownSchema();
/** Terraform's own, which needs no provider. */
const builtIn: ProviderSchema = {
  resource: {
    terraform_data: {
      attributes: { triggers_replace: { type: "dynamic", optional: true }, input: { type: "dynamic", optional: true } },
    },
  },
  data: {
    terraform_remote_state: {
      attributes: { backend: { type: "string", required: true }, config: { type: "dynamic", optional: true } },
    },
  },
};

/** Those whose provider blocks are known, by name. */
const configurable: Readonly<Record<string, Block | undefined>> = {
  aws: read("aws").provider,
  libvirt: read("libvirt").provider,
};

const schemas = [read("aws"), read("aws-rds"), read("libvirt"), read("docker"), read("kubernetes"), served, builtIn];
export const blockOf = (kind: "resource" | "data", type: string): Block | undefined =>
  schemas.map((schema) => schema[kind][type]).find((block) => block !== undefined);

export function* bodiesOf(stack: StackJson) {
  for (const kind of ["resource", "data"] as const)
    for (const [type, byId] of Object.entries(stack[kind] ?? {}))
      for (const [id, body] of Object.entries(byId)) yield { kind, type, body, address: `${type}.${id}` };
}

/** The blocks, and what their expressions come to for each machine. */
function* bodiesAndInstancesOf(stack: StackJson) {
  yield* bodiesOf(stack);
  for (const { type, address, values } of evaluateStack(stack as unknown as JsonObject))
    yield { kind: "resource" as const, type, body: values, address };
}

function faultsOfProviders({ provider }: StackJson): readonly string[] {
  return Object.entries(provider).flatMap(([name, bodies]) => {
    const block = configurable[name];
    return block === undefined ? [] : bodies.flatMap((body) => checkBody(body, block, `provider.${name}`));
  });
}

/** What the providers would refuse, by address. */
export function faultsOf(stack: StackJson): readonly string[] {
  const faults = [...bodiesAndInstancesOf(stack)].flatMap(({ kind, type, body, address }) => {
    const block = blockOf(kind, type);
    return block === undefined ? [`${address}: unknown type`] : checkBody(body, block, address);
  });
  return [...faultsOfProviders(stack), ...faults];
}
