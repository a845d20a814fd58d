// SPDX-License-Identifier: Apache-2.0
// Every example of the reference is applied as it stands, planned again and destroyed.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { ClusterWorkspace } from "../support/cluster-workspace.ts";
import { findTools } from "../support/terraform.ts";

const tools = findTools();
const workspaces: ClusterWorkspace[] = [];
afterAll(() => Promise.all(workspaces.map((workspace) => workspace.dispose())));

test.skipIf(tools.length > 0)("neither terraform nor tofu was found", () => undefined);

const folder = join(import.meta.dirname, "..", "..", "examples", "provider");
const examples = readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
  .filter((name) => name !== "provider.tf")
  .map((name) => ({ name, text: readFileSync(join(folder, name), "utf8") }));

const everything = Boolean(process.env.TALOSMITH_TEST_ALL);

describe.each(everything ? tools : tools.slice(0, 1))("the example under $name", (tool) => {
  test.each(examples)("$name", async ({ text }) => {
    const workspace = await ClusterWorkspace.open(tool, text, { provider: 'secrets_file = "secrets/demo.yaml"' });
    workspaces.push(workspace);
    await workspace.ok(["fmt", "-check", "main.tf"]);
    await workspace.ok(["validate", "-no-color"]);
    // Bringing up a cluster for each of them takes its time: see `npm run test:all`.
    if (text.includes("talosmith_cluster") && !everything) return;
    await workspace.apply();
    expect(await workspace.isSettled()).toBe(true);
    await workspace.destroy();
  });
});
