// SPDX-License-Identifier: Apache-2.0
// Every example of the reference, as it stands.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { expect, test } from "vitest";
import { encodeSecrets } from "../../talos/secrets/index.ts";
import { testSecrets } from "../engine/fixture.ts";
import type { ClusterWorkspace } from "../support/cluster-workspace.ts";
import { everything } from "../support/everything.ts";
import { type PageItem, pageItems } from "../support/pages.ts";
import { plan, underTools } from "../support/under-tools.ts";

const folder = join(import.meta.dirname, "..", "..", "examples", "provider");
const examples = readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
  // Actions and lists need Terraform 1.14: provider-actions.test.ts, provider-query.test.ts.
  .filter((name) => name !== "provider.tf" && !/^(?:actions|list-resources)\//.test(name))
  .map((name) => ({ name, text: readFileSync(join(folder, name), "utf8") }));

underTools("the examples", ({ open: openWorkspace }) => {
  const open = (text: string, environment: Record<string, string> = {}) =>
    openWorkspace(text, { provider: 'secrets_file = "secrets/demo.yaml"', environment });

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

  // An add-on comes from its repository on the internet: a stand-in for helm has every chart.
  const helm = { TALOSMITH_HELM: resolve("test/support/stand-in-helm.mjs"), STAND_IN_HELM: "releases.json" };
  test.skipIf(!everything).each(examples)(
    "$name is applied, planned again, imported as its page says and destroyed",
    async ({ name, text }) => {
      const workspace = await open(text, name.endsWith("addon.tf") ? helm : {});
      await workspace.apply();
      expect(await workspace.isSettled()).toBe(true);
      for (const { page, text: line } of importLines(name)) {
        const [, , address = "", id = ""] = line.split(" ");
        const values = (await workspace.resource(address)) ?? {};
        const { machines = {} } = (await workspace.resource("talosmith_cluster.example")) ?? {};
        const [machine] = Object.values(machines as Record<string, { readonly address: string }>);
        if (address.startsWith("talosmith_secrets")) writeBundle(workspace, id);
        const own = ownId(address, { ...values, machine: machine?.address }) ?? id;
        // The same parts in the same order, with what is this cluster's own.
        expect(own.split(/[,/]/).length, page).toBe(id.split(/[,/]/).length);
        await workspace.ok(["state", "rm", address]);
        await workspace.ok(["import", "-input=false", address, own]);
        const { text: planned } = await workspace.ok(plan);
        expect(planned, page).toMatch(/No changes|Plan: 0 to add, \d+ to change, 0 to destroy/);
      }
      await workspace.destroy();
    },
  );
});

/** The lines of a resource's page that import it. */
function importLines(name: string): readonly PageItem[] {
  if (!name.startsWith("resources/")) return [];
  const lines = pageItems(join("docs/provider", name.replace(/\.tf$/, ".md"))).filter(({ command }) => command);
  expect(lines.map(({ text }) => text)).toEqual([
    expect.stringMatching(/^terraform import talosmith_\w+\.example \S+$/),
  ]);
  return lines;
}

/** What the id on the page is here. */
function ownId(address: string, values: Readonly<Record<string, unknown>>): string | undefined {
  const ids: Readonly<Record<string, readonly string[]>> = {
    talosmith_addon: ["machine", "/", "namespace", "/", "name"],
    talosmith_client_files: ["kubeconfig_path", ",", "talosconfig_path"],
    talosmith_cloud_init: ["path"],
    talosmith_cluster: ["machine"],
    talosmith_etcd_snapshot: ["directory", "/", "id"],
    talosmith_member: ["cluster", ",", "name", ",", "machine_id", ",", "address"],
    talosmith_simulated_machine: ["id"],
  };
  return ids[address.split(".")[0] ?? ""]?.map((part) => (/\w/.test(part) ? String(values[part]) : part)).join("");
}

function writeBundle({ directory }: ClusterWorkspace, path: string): void {
  mkdirSync(dirname(join(directory, path)), { recursive: true });
  writeFileSync(join(directory, path), encodeSecrets(testSecrets()), { mode: 0o600 });
}
