// SPDX-License-Identifier: Apache-2.0
// Makes dist/, which the published package carries: the command, the constructs, the provider, the page, the types.
// What is bundled need not be installed: only packages that users import, or that our types name, are dependencies.
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { build } from "esbuild";
import { buildProvider } from "../provider/package.ts";
import { assetsFromSource } from "../web/server/index.ts";
import { bundleOptions } from "./bundle-options.ts";
import { publishedTypes } from "./published-types.ts";
import { billOfLockFile, shippedBill } from "./supply-chain/bill-of-materials.ts";
import { bundledPackages } from "./supply-chain/bundled-packages.ts";
import { thirdPartyNotices } from "./supply-chain/notices.ts";

const root = join(import.meta.dirname, "..");
const dist = join(root, "dist");
const entries = {
  index: "workspace/synthesize/public.ts",
  "constructs/index": "constructs/public.ts",
  "cli/main": "cli/main.ts",
};

rmSync(dist, { recursive: true, force: true });
await build({ ...bundleOptions, absWorkingDir: root, entryPoints: entries, outdir: dist });
await buildProvider(root, join(dist, "provider"));
mkdirSync(join(dist, "web"));
for (const [path, { content }] of await assetsFromSource())
  writeFileSync(join(dist, "web", path === "/" ? "index.html" : path), content);
writeTypes(join(dist, "types"));
const bundled = await bundledPackages(root, bundleOptions.external);
writeFileSync(join(dist, "third-party-notices.txt"), thirdPartyNotices(bundled));
writeFileSync(join(dist, "sbom.cdx.json"), `${JSON.stringify(shippedBill(billOfLockFile(root), bundled), null, 2)}\n`);

/** Declarations say `./x.ts`, as the sources do; in a package of compiled files that would be `./x.js`. */
function writeTypes(folder: string): void {
  const settings = ["--project", "tsconfig.types.json", "--outDir", folder];
  execFileSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), ...settings], { stdio: "inherit" });
  const written = new Map<string, string>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    const text = readFileSync(file, "utf8").replaceAll(/((?:from |import\()"\.[^"]*)\.ts"/g, '$1.js"');
    written.set(relative(folder, file), text);
  }
  rmSync(folder, { recursive: true });
  const published = publishedTypes(written, [entries.index, entries["constructs/index"]].map(declarationFile));
  for (const [file, text] of published) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
}

function declarationFile(source: string): string {
  return source.replace(/\.ts$/, ".d.ts");
}
