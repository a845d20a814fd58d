// SPDX-License-Identifier: Apache-2.0
// Builds dist/executables: the provider as one file for each platform, with Node inside.
//   node --import tsx scripts/build-executables.ts [platform ...]
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildProvider } from "../provider/package.ts";
import { buildExecutable } from "./executables/build.ts";
import { nodeBinaries } from "./executables/node-binaries.ts";

const root = join(import.meta.dirname, "..");
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => nodeBinaries.every(({ platform }) => platform !== name));
if (unknown.length > 0)
  throw new Error(`found ${unknown.join(", ")}, expected ${nodeBinaries.map(({ platform }) => platform).join(", ")}`);

const work = mkdtempSync(join(tmpdir(), "talosmith-executables-"));
try {
  const files = join(work, "provider");
  await buildProvider(root, files);
  for (const binary of nodeBinaries) {
    if (wanted.length > 0 && !wanted.includes(binary.platform)) continue;
    const target = join(root, "dist", "executables", binary.platform);
    mkdirSync(target, { recursive: true });
    const ending = binary.platform.startsWith("windows") ? ".exe" : "";
    const executable = join(target, `terraform-provider-talosmith_v${version}${ending}`);
    await buildExecutable({
      binary,
      files,
      main: "terraform-provider-talosmith.cjs",
      work,
      executable,
      cache: join(root, "node_modules", ".cache", "talosmith"),
    });
    console.log(`${executable}: ${(statSync(executable).size / 2 ** 20).toFixed(1)} MiB`);
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}
