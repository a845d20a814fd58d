// SPDX-License-Identifier: Apache-2.0
// Every example of the reference, as it stands.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { ClusterWorkspace } from "../support/cluster-workspace.ts";
import { everything } from "../support/everything.ts";
import { findTools } from "../support/terraform.ts";

const tools = findTools();
const workspaces: ClusterWorkspace[] = [];
afterAll(() => Promise.all(workspaces.map((workspace) => workspace.dispose())));

test.skipIf(tools.length === 0)("terraform or tofu is there", () => expect(tools).not.toEqual([]));

const folder = join(import.meta.dirname, "..", "..", "examples", "provider");
const examples = readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
  .filter((name) => name !== "provider.tf")
  .map((name) => ({ name, text: readFileSync(join(folder, name), "utf8") }));

describe.each(everything ? tools : tools.slice(0, 1))("under $name", (tool) => {
  const open = async (text: string) => {
    const workspace = await ClusterWorkspace.open(tool, text, { provider: 'secrets_file = "secrets/demo.yaml"' });
    workspaces.push(workspace);
    return workspace;
  };

  test("every example is valid and well formed", async () => {
    const workspace = await open("");
    for (const { name, text } of examples) {
      workspace.write("main.tf", text);
      const checked = await workspace.run(["fmt", "-check", "main.tf"]);
      expect(checked.code, name).toBe(0);
      const { code, text: output } = await workspace.run(["validate", "-no-color"]);
      expect(code, `${name}: ${output}`).toBe(0);
    }
  });

  // An add-on comes from its repository on the internet; provider-day-two.test.ts applies one.
  const offline = examples.filter(({ name }) => name !== "resources/addon.tf");
  test.skipIf(!everything).each(offline)("$name is applied, planned again and destroyed", async ({ text }) => {
    const workspace = await open(text);
    await workspace.apply();
    expect(await workspace.isSettled()).toBe(true);
    await workspace.destroy();
  });
});
