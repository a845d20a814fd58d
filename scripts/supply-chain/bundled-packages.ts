// SPDX-License-Identifier: Apache-2.0
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import * as z from "zod";
import { leaveOutProtoLoader } from "../../provider/packaging/bundle.ts";

const manifest = z.object({ name: z.string(), version: z.string(), license: z.string() });

export interface BundledPackage extends z.infer<typeof manifest> {
  /** The whole text, as its authors want it to be passed on. */
  readonly licenseText: string;
}

/** Everything that dist/ is made from. */
const entryPoints = [
  "workspace/synthesize/public.ts",
  "constructs/public.ts",
  "cli/main.ts",
  "provider/main.ts",
  "simulator/daemon.ts",
  "web/client/main.ts",
];

/** Whose code is inside of dist/, though it is no dependency of the published package. */
export async function bundledPackages(root: string, external: readonly string[]): Promise<readonly BundledPackage[]> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints,
    outdir: "unused",
    bundle: true,
    write: false,
    metafile: true,
    platform: "node",
    format: "esm",
    logLevel: "error",
    external: [...external],
    plugins: [leaveOutProtoLoader],
  });
  const used = Object.values(metafile.outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).filter(([, { bytesInOutput }]) => bytesInOutput > 0),
  );
  const folders = new Set(used.flatMap(([file]) => packageFolder(file) ?? []));
  // One version may lie in several folders.
  const found = [...folders].map((folder) => readPackage(join(root, folder)));
  const byName = new Map(found.map((each) => [`${each.name}@${each.version}`, each]));
  return [...byName].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each);
}

/** `node_modules/a/node_modules/@b/c/lib/x.js` is of the package in `node_modules/a/node_modules/@b/c`. */
function packageFolder(file: string): string | undefined {
  return /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0];
}

function readPackage(folder: string): BundledPackage {
  const found = manifest.parse(JSON.parse(readFileSync(join(folder, "package.json"), "utf8")), {
    error: () => `${folder}/package.json has no name, version or licence`,
  });
  const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
  return { ...found, licenseText: file === undefined ? "" : readFileSync(join(folder, file), "utf8").trim() };
}
