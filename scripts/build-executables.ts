// SPDX-License-Identifier: Apache-2.0
// Builds dist/executables: the provider and the command as one file each for each platform, with Node inside. The command
// has the provider in it as well.
//   node --import tsx scripts/build-executables.ts [platform ...]
import { cpSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildProvider } from "../provider/package.ts";
import { bundleApart, startFile } from "../provider/packaging/bundle.ts";
import { packageVersion } from "../talos/own-files.ts";
import { assetsFromSource } from "../web/server/index.ts";
import { buildExecutable } from "./executables/build.ts";
import { nodeBinaries } from "./executables/node-binaries.ts";

const root = join(import.meta.dirname, "..");
const version = packageVersion();
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => nodeBinaries.every(({ platform }) => platform !== name));
if (unknown.length > 0)
  throw new Error(`found ${unknown.join(", ")}, expected ${nodeBinaries.map(({ platform }) => platform).join(", ")}`);

const work = mkdtempSync(join(tmpdir(), "talosmith-executables-"));
try {
  const provider = join(work, "provider");
  await buildProvider(root, provider);
  const command = join(work, "command");
  await buildCommand(command, provider);
  for (const binary of nodeBinaries) {
    if (wanted.length > 0 && !wanted.includes(binary.platform)) continue;
    const target = join(root, "dist", "executables", binary.platform);
    mkdirSync(target, { recursive: true });
    const ending = binary.platform.startsWith("windows") ? ".exe" : "";
    const cache = join(root, "node_modules", ".cache", "talosmith");
    const common = { binary, provider: startFile, work, cache };
    const made = [
      { ...common, files: provider, executable: join(target, `terraform-provider-talosmith_v${version}${ending}`) },
      { ...common, files: command, command: "talosmith.cjs", executable: join(target, `talosmith${ending}`) },
    ];
    for (const each of made) {
      await buildExecutable(each);
      console.log(`${each.executable}: ${(statSync(each.executable).size / 2 ** 20).toFixed(1)} MiB`);
    }
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}

/** The command with all that it reads of its package, and the provider's files. */
async function buildCommand(directory: string, provider: string): Promise<void> {
  cpSync(provider, directory, { recursive: true });
  // Only a checkout uses them.
  const external = ["esbuild", "tsx"];
  const bundle = await bundleApart({ root, outDir: directory, entries: { talosmith: "cli/main.ts" }, external });
  await bundle.write();
  cpSync(join(root, "package.json"), join(directory, "package.json"));
  for (const [path, { content }] of await assetsFromSource())
    writeFileSync(join(directory, path === "/" ? "index.html" : path), content);
}
