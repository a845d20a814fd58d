// SPDX-License-Identifier: Apache-2.0
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findTerraform } from "../../../workspace/terraform/find-terraform.ts";
import { programFolder } from "../../support/programs.ts";

const node = process.execPath;

describe("the program that applies a stack", () => {
  const both = programFolder({ terraform: node, tofu: node });
  const terraform = programFolder({ terraform: node });
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

  test("is tofu where the state is encrypted, with the passphrase at hand, and never terraform", () => {
    const encrypted = { encryption: "passphrase" };
    const passphrase = { TF_VAR_state_passphrase: "correct horse battery" };
    expect(findTerraform({ PATH: both, ...passphrase }, encrypted)).toBe(join(both, "tofu"));
    expect(() => findTerraform({ PATH: both }, encrypted)).toThrow("TF_VAR_state_passphrase is not set");
    expect(() => findTerraform({ PATH: terraform, ...passphrase }, encrypted)).toThrow("encrypted by OpenTofu");
    expect(findTerraform({ PATH: none }, encrypted)).toBeUndefined();
  });

  test("is not silently another one than TERRAFORM_BINARY_NAME asks for", () => {
    expect(() => findTerraform({ PATH: both, TERRAFORM_BINARY_NAME: "terragrunt" })).toThrow(
      'TERRAFORM_BINARY_NAME is "terragrunt", but there is no such program on the PATH',
    );
  });
});
