// SPDX-License-Identifier: Apache-2.0
// Runs a TypeScript file of this checkout, packages included, from one bundle that is made anew whenever one of its
// sources has changed: node scripts/from-source.js main.ts. To load the hundreds of files one by one takes longer than
// the work itself. So run cdktf.json, bin/talosmith.js and the simulator's daemon.
import { createHash, randomBytes } from "node:crypto";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const cache = join(root, "node_modules", ".cache", "talosmith");
const hour = 3_600_000;

/** Runs a file. `process.argv` is expected to be that of the file itself. */
export async function runFromSource(source) {
  process.setSourceMapsEnabled(true);
  await import(pathToFileURL(await bundleOf(source)).href);
}

/** The bundle of a source file: the one that was made last, when all its sources are still the same. */
async function bundleOf(source) {
  // Checkouts may share their packages, and with them this folder.
  const name = `run-${createHash("sha256").update(source).digest("hex").slice(0, 12)}`;
  const record = join(cache, `${name}.json`);
  const known = readRecord(record);
  if (known?.stamps.every(([file, stamp]) => stampOf(file) === stamp)) return known.bundle;
  const directory = newDirectory(name);
  const inputs = await bundle(source, directory);
  const made = { bundle: join(directory, "main.js"), stamps: inputs.map((file) => [file, stampOf(file)]) };
  if (dirname(directory) !== cache) return made.bundle;
  writeFileSync(`${directory}.json`, JSON.stringify(made));
  renameSync(`${directory}.json`, record);
  dropOlder(name, directory);
  return made.bundle;
}

/** In the cache; where nobody may write there, a folder that goes with this process. */
function newDirectory(name) {
  const directory = join(cache, `${name}-${randomBytes(6).toString("hex")}`);
  try {
    mkdirSync(directory, { recursive: true });
    return directory;
  } catch {
    const passing = mkdtempSync(join(tmpdir(), "talosmith-source-"));
    process.on("exit", () => rmSync(passing, { recursive: true, force: true }));
    return passing;
  }
}

function readRecord(file) {
  try {
    const record = JSON.parse(readFileSync(file, "utf8"));
    statSync(record.bundle);
    return record;
  } catch (error) {
    if (error.code === "ENOENT" || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Changes whenever a file does. Undefined: it is gone. */
function stampOf(file) {
  const found = statSync(file, { throwIfNoEntry: false });
  return found && `${found.mtimeMs} ${found.ctimeMs} ${found.size}`;
}

/** Bundles a file with all that it imports. Returns the files that were read. */
async function bundle(source, outdir) {
  const { build } = await import("esbuild");
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: { main: source },
    outdir,
    bundle: true,
    splitting: true,
    platform: "node",
    format: "esm",
    target: `node${process.versions.node}`,
    minifyWhitespace: true,
    keepNames: true,
    legalComments: "none",
    sourcemap: "linked",
    sourcesContent: false,
    logLevel: "warning",
    metafile: true,
    external: ["esbuild", "tsx"],
    define: { "import.meta.url": "__url", "import.meta.dirname": "__directory", "import.meta.filename": "__file" },
    plugins: [ownPlace],
    // Packages in the older module system ask for Node's own modules by require.
    banner: { js: "import{createRequire as __r}from'node:module';const require=__r(import.meta.url);" },
  });
  // Changed by an install of packages, which may put another version into another place.
  return [fileURLToPath(import.meta.url), join(root, "package-lock.json"), ...Object.keys(metafile.inputs)].map(
    (file) => resolve(root, file),
  );
}

/** Each file of ours knows where it is itself, not where the bundle is. */
const ownPlace = {
  name: "own-place",
  setup(build) {
    build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, "utf8");
      if (!text.includes("import.meta.")) return undefined;
      const places = { __url: pathToFileURL(path).href, __directory: dirname(path), __file: path };
      const lines = Object.entries(places).map(([place, value]) => `const ${place}=${JSON.stringify(value)};`);
      return { contents: lines.join("") + text, loader: "ts" };
    });
  },
};

/** What is young may be in use by somebody else. */
function dropOlder(name, current) {
  for (const entry of readdirSync(cache)) {
    const path = join(cache, entry);
    const old = entry.startsWith(`${name}-`) && path !== current;
    if (old && Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()) > hour)
      rmSync(path, { recursive: true, force: true });
  }
}

// A path through a link is still this file.
if (realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const source = resolve(process.argv[2] ?? "");
  process.argv.splice(1, 2, source);
  await runFromSource(source);
}
