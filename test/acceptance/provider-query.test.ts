// SPDX-License-Identifier: Apache-2.0
// Identities, and what `terraform query` finds of a cluster that exists, under each Terraform that has it.
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { lt } from "semver";
import { afterAll, describe, expect, test } from "vitest";
import { ClusterWorkspace, clusterConfig } from "../support/cluster-workspace.ts";
import { moreTerraforms } from "../support/more-terraforms.ts";
import { apply, plan } from "../support/under-tools.ts";

const examples = join(import.meta.dirname, "..", "..", "examples", "provider", "list-resources");
const withQuery = moreTerraforms.filter(({ version }) => !lt(version, "1.14.0"));

test.skipIf(withQuery.length === 0)("TALOSMITH_TEST_TERRAFORMS names a Terraform that has queries", () =>
  expect(withQuery).not.toEqual([]),
);

describe.each(withQuery)("terraform $version", ({ path }) => {
  const workspaces: ClusterWorkspace[] = [];
  afterAll(() => Promise.all(workspaces.map((workspace) => workspace.dispose())));

  test("a cluster that is in no state any more is found, written as HCL, imported, and then as it should be", async () => {
    const machines = { "cp-1": "controlplane", "w-1": "worker" } as const;
    const workspace = await ClusterWorkspace.open(
      { name: "terraform", path },
      clusterConfig({ machines, members: true }),
    );
    workspaces.push(workspace);
    await workspace.apply();
    const shown = JSON.parse((await workspace.ok(["show", "-json"])).stdout);
    const identities = shown.values.root_module.resources.map((one: { identity?: object }) => one.identity);
    expect(identities.filter(Boolean)).toHaveLength(5);

    const made = await workspace.simulator().listMachines();
    const address = made.find(({ name }) => name === "cp-1")?.address ?? "";
    rmSync(join(workspace.directory, "terraform.tfstate"));
    workspace.write("main.tf", "");
    for (const name of readdirSync(examples)) {
      workspace.write("found.tfquery.hcl", readFileSync(join(examples, name), "utf8"));
      await workspace.ok(["validate", "-query", "-no-color"]);
    }
    workspace.write(
      "found.tfquery.hcl",
      ["cluster", "member"]
        .map(
          (type) =>
            `list "talosmith_${type}" "found" {\n  provider = talosmith\n  config {\n    endpoints = ["${address}"]\n  }\n}\n`,
        )
        .join("\n"),
    );
    const { text } = await workspace.ok(["query", "-no-color", "-generate-config-out=generated.tf"]);
    expect(text).toMatch(/list\.talosmith_cluster\.found\s+address=\S+,name=test\s+test/);
    expect(text.match(/list\.talosmith_member\.found/g)).toHaveLength(2);
    const planned = await workspace.ok(plan);
    expect(planned.text).toContain("Plan: 3 to import, 0 to add, 0 to change, 0 to destroy");
    await workspace.ok(apply);
    expect(await workspace.isSettled()).toBe(true);
  });
});
