// SPDX-License-Identifier: Apache-2.0
import { chmod, mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import type { BuildOptions, Metafile, Plugin } from "esbuild";

export interface BundleOptions {
  /** The project's root; nothing outside of it, and no name of it, gets into the bytes. */
  readonly root: string;
  /** The provider's entry point, relative to the root. */
  readonly entry: string;
  /** The entry point of the simulator's own process, relative to the root. */
  readonly daemon?: string;
  readonly outDir: string;
}

export const startFile = "terraform-provider-talosmith.cjs";
export const engineFile = "talosmith-engine.cjs";
export const daemonFile = "simulator-daemon.cjs";

/**
 * Makes the provider's directory: a small start file with handshake and schemas, and one engine file with everything
 * that the start file imports dynamically, loaded at the first such import. Terraform starts a provider four or five
 * times in a plan, and most of those starts end before any work. The same sources give the same bytes.
 */
export async function bundleProvider({ root, entry, daemon, outDir }: BundleOptions): Promise<void> {
  const { build } = await import("esbuild");
  await rm(outDir, { recursive: true, force: true });
  await mkdir(outDir, { recursive: true });
  const lazy = new Set<string>();
  const common: BuildOptions = {
    absWorkingDir: root,
    bundle: true,
    platform: "node",
    format: "cjs",
    target: "node20.19",
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: "none",
    logLevel: "silent",
    metafile: true,
    define: { "import.meta.url": "__talosmithUrl" },
    banner: { js: "const __talosmithUrl=require('node:url').pathToFileURL(__filename).href;" },
  };
  await build({
    ...common,
    entryPoints: [join(root, entry)],
    outfile: join(outDir, startFile),
    banner: { js: `#!/usr/bin/env node\n${common.banner?.["js"] ?? ""}` },
    plugins: [loadLazily(root, lazy)],
  });
  const daemonBuild =
    daemon === undefined
      ? Promise.resolve()
      : build({ ...common, entryPoints: [join(root, daemon)], outfile: join(outDir, daemonFile) });
  const engine = await build({
    ...common,
    stdin: { contents: engineSource([...lazy].sort()), resolveDir: root, loader: "js" },
    outfile: join(outDir, engineFile),
  });
  await daemonBuild;
  refuseSharedModules(engine.metafile);
  await chmod(join(outDir, startFile), 0o755);
}

/** Dynamic imports of our own modules become requests to the engine file, and are noted down for it. */
function loadLazily(root: string, lazy: Set<string>): Plugin {
  return {
    name: "load-lazily",
    setup(build) {
      build.onResolve({ filter: /^\./ }, ({ kind, path, resolveDir }) => {
        if (kind !== "dynamic-import") return undefined;
        const name = relative(root, join(resolveDir, path)).split(sep).join("/");
        lazy.add(name);
        return { path: name, namespace: "engine" };
      });
      build.onResolve({ filter: new RegExp(`^\\./${engineFile}$`) }, () => ({ path: `./${engineFile}`, external: true }));
      build.onLoad({ filter: /.*/, namespace: "engine" }, ({ path }) => ({
        contents: `module.exports = require("./${engineFile}")[${JSON.stringify(path)}]();`,
        loader: "js",
      }));
    },
  };
}

/** `require` inside of a function: each module is run at its first use, not when the file is loaded. */
function engineSource(modules: readonly string[]): string {
  return modules.map((name) => `exports[${JSON.stringify(name)}] = () => require("./${name}");`).join("\n");
}

/** A module in both files would exist twice, and `instanceof` would tell lies about its classes. */
function refuseSharedModules(metafile: Metafile | undefined): void {
  const shared = Object.keys(metafile?.inputs ?? {}).filter((name) => name.startsWith("provider/"));
  if (shared.length > 0) throw new Error(`loaded lazily, but part of the provider's start: ${shared.join(", ")}`);
}

/** All files of a made directory, in order. */
export async function readBundle(directory: string): Promise<ReadonlyMap<string, Buffer>> {
  const names = (await readdir(directory)).sort();
  return new Map(await Promise.all(names.map(async (name) => [name, await readFile(join(directory, name))] as const)));
}
