// SPDX-License-Identifier: Apache-2.0
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { instancesOf, repositoryRoot } from "./project.ts";

const example = join(repositoryRoot, "examples/constructs-in-typescript");
// The prebuilt provider package is the example's own dependency, not ours: after `npm install` there, this runs.
const modules = process.env.TALOSMITH_EXAMPLE_MODULES ?? join(example, "node_modules");

describe.runIf(existsSync(join(modules, "@cdktn/provider-random")))("the example app", () => {
  it("is what its README says, and puts a prebuilt provider beside our constructs", () => {
    const folder = mkdtempSync(join(tmpdir(), "talosmith-example-"));
    try {
      const [, code = ""] = /```ts\n([\s\S]*?)```/.exec(readFileSync(join(example, "README.md"), "utf8")) ?? [];
      writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
      symlinkSync(modules, join(folder, "node_modules"));
      writeFileSync(
        join(folder, "main.ts"),
        code
          .replace('"talosmith/constructs"', JSON.stringify(join(repositoryRoot, "constructs/index.ts")))
          .replace('"talosmith"', JSON.stringify(join(repositoryRoot, "workspace/synthesize/public.ts"))),
      );
      const tsx = import.meta.resolve("tsx");
      execFileSync(process.execPath, ["--import", tsx, "main.ts"], { cwd: folder, stdio: "pipe" });
      const stack = JSON.parse(readFileSync(join(folder, "cdktf.out/stacks/lab/cdk.tf.json"), "utf8")) as {
        resource: Record<string, Record<string, Record<string, unknown>>>;
        terraform: { required_providers: object };
      };
      expect(Object.keys(stack.terraform.required_providers).sort()).toEqual(["libvirt", "random", "talosmith"]);
      expect(Object.keys(stack.resource.random_pet ?? {})).toEqual(["pet"]);
      expect([...instancesOf(stack).keys()]).toContain('libvirt_domain.cluster_storage["storage-3"]');
      expect(stack.resource.talosmith_cluster?.cluster_cluster?.additional_sans).toEqual([
        "10.0.0.100",
        "${random_pet.pet.id}",
      ]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
