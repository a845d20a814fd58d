// SPDX-License-Identifier: Apache-2.0
// The types of siderolabs/talos as far as terraform needs them to read a state of that provider: it does nothing.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const source = `
  import { attribute } from ${JSON.stringify(new URL("../../provider/framework/index.ts", import.meta.url).pathname)};
  import { serve } from ${JSON.stringify(new URL("../../provider/protocol/index.ts", import.meta.url).pathname)};
  import { mkdtempSync } from "node:fs";
  import { join } from "node:path";
  const types = ["talos_machine_secrets", "talos_machine_configuration_apply", "talos_machine_bootstrap", "talos_cluster_kubeconfig"];
  const never = () => Promise.reject(new Error("the stand-in of siderolabs/talos was asked to do something"));
  serve({
    description: "", attributes: {}, dataSources: [], ephemeralResources: [], functions: [], actions: [], lists: [], configure: () => ({}),
    resources: types.map((name) => ({
      name, description: "", version: 1, attributes: { node: attribute.optional.string("") }, create: never, delete: never,
      read: async ({ state }) => state,
    })),
  }, { socketFolder: (parent) => mkdtempSync(join(parent, "official-")) });
`;

/** Puts it where terraform finds it when it is run in that folder. */
export async function layOfficialProvider(folder: string): Promise<void> {
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir: import.meta.dirname, loader: "ts" },
    bundle: true,
    write: false,
    platform: "node",
    format: "cjs",
    logLevel: "silent",
  });
  const platform = `${process.platform}_${process.arch === "x64" ? "amd64" : process.arch}`;
  for (const registry of ["registry.terraform.io", "registry.opentofu.org"]) {
    const place = join(folder, "terraform.d/plugins", registry, "siderolabs/talos/0.11.0", platform);
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, "official.cjs"), outputFiles[0]?.text ?? "");
    const start = `#!/bin/sh\nexec "${process.execPath}" "${join(place, "official.cjs")}"\n`;
    writeFileSync(join(place, "terraform-provider-talos_v0.11.0"), start, { mode: 0o755 });
  }
}
