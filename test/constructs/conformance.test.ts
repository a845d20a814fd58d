// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { blocksOf } from "../../constructs/hcl/layout.ts";
import { allEnvironments, type StackJson, withSynth } from "./project.ts";
import { blockPaths, checkBody } from "./schema-walker.ts";
import { blockOf, bodiesOf, faultsOf } from "./stack-schemas.ts";

const stacks: readonly (readonly [string, () => StackJson])[] = allEnvironments().map(({ name, root }) => [
  name,
  () => withSynth(root, [name], (_, text) => JSON.parse(text(name)) as StackJson),
]);

describe("the stack of an environment", () => {
  it.each(stacks)("holds only arguments that the providers know, of the right type: %s", (_, stack) => {
    expect(faultsOf(stack())).toEqual([]);
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

  it("finds what a provider block does not take", () => {
    const [, stack] = stacks.find(([name]) => name === "aws-private") ?? [];
    const provider = { aws: [{ region: "eu-west-1", assumed_role: [{}], allowed_account_ids: 1 }] };
    expect(faultsOf({ ...(stack?.() as StackJson), provider })).toEqual([
      "provider.aws.assumed_role: unknown",
      "provider.aws.allowed_account_ids: no set",
    ]);
  });

  it("finds a missing argument", () => {
    expect(checkBody({}, blockOf("resource", "aws_subnet") ?? {}, "subnet")).toEqual(["subnet.vpc_id: missing"]);
  });
});
