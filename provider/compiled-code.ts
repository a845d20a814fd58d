// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import nodeModule from "node:module";
import { basename, dirname, join } from "node:path";
import { Script } from "node:vm";

/**
 * Keeps what V8 has compiled of the files beside `startFile` for the next start: Terraform starts a provider three to
 * five times in a plan, and most of a start is compiling. It lies in Terraform's data directory: who may write there may
 * change the provider itself.
 */
export function keepCompiledCode(startFile: string, environment: NodeJS.ProcessEnv): void {
  const data = environment.TF_DATA_DIR || ".terraform";
  if (environment.NODE_DISABLE_COMPILE_CACHE || statSync(data, { throwIfNoEntry: false }) === undefined) return;
  const folder = join(data, "talosmith-code");
  const { enableCompileCache } = nodeModule as { enableCompileCache?: (folder: string) => unknown };
  // Since Node 22 it does this itself.
  if (enableCompileCache !== undefined) enableCompileCache(folder);
  else compileThrough(folder, dirname(realpathSync(startFile)));
}

/** The part of Node's module loader that every compile cache for CommonJS replaces. */
interface CompilingModule {
  readonly exports: unknown;
  require(id: string): unknown;
  _compile(source: string, file: string): unknown;
}

function compileThrough(folder: string, directory: string): void {
  const cache = new CodeCache(folder, directory);
  const loader = nodeModule.prototype as unknown as CompilingModule;
  const compile = loader._compile;
  loader._compile = function (source, file) {
    if (dirname(file) !== directory) return compile.call(this, source, file);
    const run = cache.compile(source, file).runInThisContext();
    return run.call(this.exports, this.exports, (id: string) => this.require(id), this, file, directory);
  };
  process.once("exit", () => cache.save());
}

const mark = "\0";
const sealLength = 32;

/** V8 refuses what another version of it has made, but of the source it looks at the length, and at the data not at all. */
function seal(source: string, data: Buffer): Buffer {
  return createHash("sha256").update(source).update(data).digest();
}

class CodeCache {
  readonly #folder: string;
  /** Of the sources. */
  readonly #directory: string;
  readonly #loaded: { readonly script: Script; readonly name: string; readonly source: string }[] = [];
  #complete = true;

  constructor(folder: string, directory: string) {
    this.#folder = folder;
    this.#directory = directory;
  }

  compile(source: string, filename: string): Script {
    const name = basename(filename);
    const cachedData = this.#read(name, source);
    const script = new Script(nodeModule.wrap(source), {
      filename,
      // As if nothing stood before the source: profiles and traces tell its own columns.
      columnOffset: -nodeModule.wrap(mark).indexOf(mark),
      ...(cachedData === undefined ? {} : { cachedData }),
    });
    this.#complete &&= cachedData !== undefined && !script.cachedDataRejected;
    this.#loaded.push({ script, name, source });
    return script;
  }

  #read(name: string, source: string): Buffer | undefined {
    try {
      const content = readFileSync(join(this.#folder, name));
      const data = content.subarray(sealLength);
      return content.subarray(0, sealLength).equals(seal(source, data)) ? data : undefined;
    } catch {
      return undefined;
    }
  }

  /**
   * As late as can be: what was used is compiled by then. When one file was new, this run went further than those
   * before it, and has compiled more of the other files too.
   */
  save(): void {
    if (this.#complete) return;
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      for (const { script, name, source } of this.#loaded) {
        const data = script.createCachedData();
        this.#write(name, Buffer.concat([seal(source, data), data]));
      }
      for (const name of readdirSync(this.#folder))
        if (!existsSync(join(this.#directory, name))) rmSync(join(this.#folder, name));
    } catch {
      // A full or read-only disk costs the next start some time, and nobody anything else.
    }
  }

  #write(name: string, content: Buffer): void {
    const file = join(this.#folder, name);
    const partial = `${file}.${process.pid}`;
    try {
      writeFileSync(partial, content, { mode: 0o600 });
      renameSync(partial, file);
    } finally {
      rmSync(partial, { force: true });
    }
  }
}
