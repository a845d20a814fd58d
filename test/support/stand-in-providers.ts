// SPDX-License-Identifier: Apache-2.0
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const providers = [
  { name: "talosmith", address: "talosmith.internal/talosmith/talosmith", version: "0.1.0" },
  { name: "libvirt", address: "registry.terraform.io/dmacvicar/libvirt", version: "0.9.7" },
  { name: "aws", address: "registry.terraform.io/hashicorp/aws", version: "6.61.0" },
  { name: "docker", address: "registry.terraform.io/kreuzwerker/docker", version: "3.6.2" },
  { name: "kubernetes", address: "registry.terraform.io/hashicorp/kubernetes", version: "2.38.0" },
];
/** Where they run, and one more for who locks a stack for several. */
const platforms = new Set([`${process.platform}_${process.arch === "x64" ? "amd64" : process.arch}`, "darwin_arm64"]);

/**
 * Lays providers into `<folder>/plugins` that have the schemas of the real ones and only remember: a mirror for
 * terraform and tofu. They serve the types of the stack that STAND_IN_STACK names, else of the one they are run in.
 */
export async function layStandIns(folder: string): Promise<string> {
  const entry = new URL("../constructs/stand-in-provider.ts", import.meta.url).pathname;
  await build({
    entryPoints: [entry],
    bundle: true,
    platform: "node",
    format: "esm",
    // In parts, as our own provider is: Terraform starts it hundreds of times here, and needs few of them each time.
    splitting: true,
    outdir: join(folder, "stand-in"),
    outExtension: { ".js": ".mjs" },
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
    logLevel: "silent",
  });
  const mirror = join(folder, "plugins");
  // The same source is at another registry for each of the tools.
  const everywhere = providers.flatMap(({ address, ...provider }) =>
    [...new Set([address, address.replace("registry.terraform.io", "registry.opentofu.org")])].map((place) => ({
      ...provider,
      address: place,
    })),
  );
  const places = everywhere.flatMap((provider) => [...platforms].map((platform) => ({ ...provider, platform })));
  for (const { name, address, version, platform } of places) {
    const directory = join(mirror, address, version, platform);
    mkdirSync(directory, { recursive: true });
    const schema = new URL(`../golden/schemas/${name}.json`, import.meta.url).pathname;
    const start = `#!/bin/sh\nexec "${process.execPath}" "${join(folder, "stand-in/stand-in-provider.mjs")}" ${name} "${schema}"\n`;
    writeFileSync(join(directory, `terraform-provider-${name}_v${version}`), start, { mode: 0o755 });
  }
  return mirror;
}
