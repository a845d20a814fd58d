// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { blocksOf } from "../../constructs/hcl/layout.ts";
import { evaluateStack, type JsonObject } from "../../constructs/index.ts";
import { type Attributes, schemaOf, typeToJson } from "../../provider/framework/index.ts";
import { talosmithProvider } from "../../provider/types/index.ts";
import { allEnvironments, repositoryRoot, type StackJson, withSynth } from "./project.ts";
import { type Attribute, type Block, blockPaths, checkBody, type ProviderSchema } from "./schema-walker.ts";

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

const schemas = [read("aws"), read("libvirt"), read("docker"), read("kubernetes"), served, builtIn];
const blockOf = (kind: "resource" | "data", type: string): Block | undefined =>
  schemas.map((schema) => schema[kind][type]).find((block) => block !== undefined);

function* bodiesOf(stack: StackJson) {
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

const stacks: readonly (readonly [string, () => StackJson])[] = allEnvironments().map(({ name, root }) => [
  name,
  () => withSynth(root, [name], (_, text) => JSON.parse(text(name)) as StackJson),
]);

describe("the stack of an environment", () => {
  it.each(stacks)("holds only arguments that the providers know, of the right type: %s", (_, stack) => {
    const faults = [...bodiesAndInstancesOf(stack())].flatMap(({ kind, type, body, address }) => {
      const block = blockOf(kind, type);
      return block === undefined ? [`${address}: unknown type`] : checkBody(body, block, address);
    });
    expect(faults).toEqual([]);
  });

  it.each(stacks)("uses blocks and attributes where the HCL printer takes them for such: %s", (_, stack) => {
    for (const { kind, type, body, address } of bodiesOf(stack())) {
      const used = new Set(blockPaths(body, blockOf(kind, type) ?? {}));
      const listed = new Set(blocksOf(type));
      expect(
        [...used].filter((path) => !listed.has(path)),
        address,
      ).toEqual([]);
      const attributes = Object.keys(body).filter((name) => listed.has(name) && !used.has(name));
      expect(attributes, address).toEqual([]);
    }
  });
});

describe("the check itself", () => {
  const block = blockOf("resource", "aws_vpc") ?? {};
  it.each([
    ["an unknown argument", { cidr_blok: "10.0.0.0/16" }, "vpc.cidr_blok: unknown"],
    ["a wrong type", { enable_dns_support: "yes" }, 'vpc.enable_dns_support: "yes" is no bool'],
    ["an argument that only the provider sets", { arn: "x" }, "vpc.arn: only the provider sets it"],
  ])("finds %s", (_, body, fault) => {
    expect(checkBody(body, block, "vpc")).toEqual([fault]);
  });

  it("finds a missing argument", () => {
    expect(checkBody({}, blockOf("resource", "aws_subnet") ?? {}, "subnet")).toEqual(["subnet.vpc_id: missing"]);
  });
});
