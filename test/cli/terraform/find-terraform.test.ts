// SPDX-License-Identifier: Apache-2.0
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findTerraform } from "../../../cli/terraform/find-terraform.ts";
import { programFolder } from "../../support/programs.ts";

const node = process.execPath;

describe("the program that applies a stack", () => {
  const both = programFolder({ terraform: node, tofu: node });
  const tofu = programFolder({ tofu: node });
  const none = programFolder({});

  test.each([
    ["terraform before tofu", { PATH: both }, join(both, "terraform")],
    ["tofu where it is alone", { PATH: `${none}:${tofu}` }, join(tofu, "tofu")],
    ["none", { PATH: none }, undefined],
    ["none without a PATH", {}, undefined],
    ["the one that TERRAFORM_BINARY_NAME names", { PATH: both, TERRAFORM_BINARY_NAME: "tofu" }, join(both, "tofu")],
    ["an absolute TERRAFORM_BINARY_NAME", { PATH: none, TERRAFORM_BINARY_NAME: node }, node],
  ])("is %s", (_, env, expected) => {
    expect(findTerraform(env)).toBe(expected);
  });

  test("is not silently another one than TERRAFORM_BINARY_NAME asks for", () => {
    expect(() => findTerraform({ PATH: both, TERRAFORM_BINARY_NAME: "terragrunt" })).toThrow(
      'TERRAFORM_BINARY_NAME is "terragrunt", but there is no such program on the PATH',
    );
  });
});
