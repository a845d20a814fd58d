// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { chmod, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { basename, join, relative, sep } from "node:path";
import type { BuildOptions, Metafile, Plugin } from "esbuild";

export interface BundleOptions {
  /** The project's root; nothing outside of it, and no name of it, gets into the bytes. */
  readonly root: string;
  /** The provider's entry point, relative to the root. */
  readonly entry: string;
  /** What the entry point imports dynamically and needs at once, relative to the root. @default all is in the entry */
  readonly session?: string;
  /** The entry point of the simulator's own process, relative to the root. */
  readonly daemon?: string;
  readonly outDir: string;
  /** Beside each file, for whoever wants to know what a line of it was. @default false */
  readonly sourceMaps?: boolean;
}

export const startFile = "terraform-provider-talosmith.cjs";
const daemonFile = "simulator-daemon.cjs";
const sessionFile = "provider.cjs";

/**
 * Makes the provider's directory: a small start file with the handshake, a file with the schemas and all that answers
 * calls, and a file for everything that this imports dynamically, loaded at the first use, with what those share in
 * chunks. Terraform starts a provider four or five times in a plan, and most of those starts end before any work. All
 * are CommonJS, which loads faster than ES modules. The same sources give the same bytes.
 */
export async function bundleProvider(options: BundleOptions): Promise<void> {
  const { root, entry, session, daemon, outDir, sourceMaps = false } = options;
  const { build } = await import("esbuild");
  await rm(outDir, { recursive: true, force: true });
  await mkdir(outDir, { recursive: true });
  const commonjs: BuildOptions = { ...common(root, sourceMaps), ...byRequire };
  const lazy = new Map<string, string>();
  const start = await build({
    ...commonjs,
    entryPoints: [join(root, entry)],
    outfile: join(outDir, startFile),
    banner: { js: startLines },
    plugins: [session === undefined ? loadLazily(root, lazy) : beside(sessionFile)],
  });
  if (session !== undefined)
    await build({
      ...commonjs,
      entryPoints: [join(root, session)],
      outfile: join(outDir, sessionFile),
      plugins: [loadLazily(root, lazy)],
    });
  const [engine, simulator] = await Promise.allSettled([
    // They were found in the order in which files happened to be read; the bytes must not depend on it.
    bundleApart({
      root,
      entries: Object.fromEntries([...lazy].sort().map(([file, name]) => [name, file])),
      outDir,
      sourceMaps,
    }),
    daemon === undefined
      ? undefined
      : build({ ...commonjs, entryPoints: [join(root, daemon)], outfile: join(outDir, daemonFile) }),
  ]);
  // Only now, when nobody writes into the directory any more.
  if (engine.status === "rejected") throw engine.reason;
  if (simulator.status === "rejected") throw simulator.reason;
  await engine.value.write();
  refuseModules(engine.value.metafile, /^provider\//, "would exist twice, and instanceof would tell lies");
  // But for the few lines that name the socket's folder.
  const slow =
    session === undefined
      ? /^(talos\/(?!(process-folder|living-process)\.ts)|cloud-init\/|simulator\/)/
      : /^(talos\/(?!(process-folder|living-process)\.ts)|cloud-init\/|simulator\/|provider\/(framework|types)\/)/;
  refuseModules(start.metafile, slow, "would make every start slower");
  await chmod(join(outDir, startFile), 0o755);
}

function common(root: string, sourceMaps: boolean): BuildOptions {
  return {
    absWorkingDir: root,
    bundle: true,
    platform: "node",
    ...settings,
    logLevel: "silent",
    metafile: true,
    sourcemap: sourceMaps && "external",
    sourcesContent: false,
    plugins: [leaveOutProtoLoader],
    define: { "import.meta.url": "__url" },
    banner: { js: "const __url=require('node:url').pathToFileURL(__filename).href;" },
  };
}

interface ApartOptions extends Pick<BundleOptions, "root" | "outDir" | "sourceMaps"> {
  /** Files relative to the root, by the names of what they become. */
  readonly entries: Readonly<Record<string, string>>;
  /** Modules that are not bundled. @default none */
  readonly external?: string[];
}

/** Bundles entry points, what they import dynamically and what they share into CommonJS files of one directory. Nothing is there before `write`. */
export async function bundleApart({ root, outDir, sourceMaps = false, entries, external = [] }: ApartOptions) {
  const { build } = await import("esbuild");
  const { outputFiles, metafile } = await build({
    ...common(root, sourceMaps),
    entryPoints: Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, join(root, file)])),
    external,
    // esbuild splits this format only.
    format: "esm",
    splitting: true,
    outdir: outDir,
    outExtension: { ".js": ".cjs" },
    metafile: true,
    write: false,
    sourcemap: sourceMaps && "inline",
  });
  const write = async () => {
    for (const { path, text } of outputFiles) await writeAsCommonJs(path, text, sourceMaps);
  };
  return { metafile, write };
}

/**
 * A shell looks for Node, so that its absence is said: Terraform shows the first line of a provider that does not start, and
 * of one whose interpreter is missing only that it was not compiled for this architecture.
 */
const startLines = `#!/bin/sh
":" //; command -v node >/dev/null || { echo "talosmith needs Node.js 20.19 or later on the PATH, or its executable, which brings Node along"; exit 1; }; exec node "$0" "$@"
"use strict";{const[a,b]=process.versions.node.split(".").map(Number);if(a<20||(a===20&&b<19)){console.log("talosmith needs Node.js 20.19 or later: "+process.execPath+" is "+process.version);process.exit(1)}}`;

/** Dynamic imports too: to set up the other loader takes longer than to load a file. */
const byRequire = { format: "cjs", supported: { "dynamic-import": false } } as const;
const settings = {
  target: "node20.19",
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: "none",
} as const;

async function writeAsCommonJs(path: string, source: string, sourceMaps: boolean): Promise<void> {
  const { transform } = await import("esbuild");
  const { code, map } = await transform(source, {
    ...settings,
    ...byRequire,
    sourcefile: basename(path),
    sourcemap: sourceMaps && "external",
    sourcesContent: false,
  });
  await writeFile(path, code);
  if (sourceMaps) await writeFile(`${path}.map`, map);
}

/** The one dynamic import of the start file is the file of this name. */
function beside(file: string): Plugin {
  return {
    name: "beside",
    setup(build) {
      build.onResolve({ filter: /^\./ }, ({ kind }) =>
        kind === "dynamic-import" ? { path: `./${file}`, external: true } : undefined,
      );
    },
  };
}

/** Dynamic imports of our own modules become files beside the start file, and are noted down to be made. */
function loadLazily(root: string, lazy: Map<string, string>): Plugin {
  return {
    name: "load-lazily",
    setup(build) {
      build.onResolve({ filter: /^\./ }, ({ kind, path, resolveDir }) => {
        if (kind !== "dynamic-import") return undefined;
        const file = relative(root, join(resolveDir, path)).split(sep).join("/");
        const name = file.replace(/(\/index)?\.ts$/, "").replaceAll("/", "-");
        lazy.set(file, name);
        return { path: `./${name}.cjs`, external: true };
      });
    },
  };
}

/** grpc-js loads .proto files at run time for a service of its own that nobody asks of us; that is a third of it. */
export const leaveOutProtoLoader: Plugin = {
  name: "leave-out-proto-loader",
  setup(build) {
    build.onResolve({ filter: /^@grpc\/proto-loader$/ }, ({ path }) => ({ path, namespace: "left-out" }));
    build.onLoad({ filter: /.*/, namespace: "left-out" }, () => ({ contents: "module.exports = {};" }));
  },
};

function refuseModules(metafile: Metafile | undefined, unwanted: RegExp, reason: string): void {
  const found = Object.keys(metafile?.inputs ?? {}).filter((name) => unwanted.test(name));
  if (found.length > 0) throw new Error(`in the wrong file of the provider, ${reason}: ${found.join(", ")}`);
}

/** All files of a made directory, in order. */
export async function readBundle(directory: string): Promise<ReadonlyMap<string, Buffer>> {
  const names = (await readdir(directory)).sort();
  return new Map(names.map((name) => [name, readFileSync(join(directory, name))] as const));
}

/** The folders that the provider is made of, and the file that pins the packages. */
const sources = ["provider", "talos", "model", "engine", "cloud-init", "simulator"];

/**
 * One hash over everything that the made provider depends on, and `more` folders: the same hash, the same bytes. Every synth asks for it;
 * hundreds of small files are read several times faster one after another than through promises.
 */
export function sourceHash(root: string, more: readonly string[] = []): string {
  const files: string[] = ["package.json", "package-lock.json"];
  for (const folder of [...sources, ...more])
    for (const entry of readdirSync(join(root, folder), { recursive: true, withFileTypes: true }))
      if (entry.isFile() && entry.name.endsWith(".ts")) files.push(relative(root, join(entry.parentPath, entry.name)));
  const hash = createHash("sha256");
  for (const file of files.sort())
    hash
      .update(`${file.split(sep).join("/")}\0`)
      .update(readFileSync(join(root, file)))
      .update("\0");
  return hash.digest("hex");
}
