// SPDX-License-Identifier: Apache-2.0
import { join } from "node:path";
import { build } from "esbuild";
import { scratchFolder } from "./scratch-folder.ts";

/** A script as users have it installed: one compiled file. The compiler's time is nobody's to wait for. */
export async function compiled(script: string, directory = scratchFolder()): Promise<string> {
  const outfile = join(directory, "script.mjs");
  const entry = new URL(script, import.meta.url).pathname;
  const banner = { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' };
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    banner,
    sourcemap: "external",
    sourcesContent: false,
  });
  return outfile;
}
