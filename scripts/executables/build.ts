// SPDX-License-Identifier: Apache-2.0
import { execFileSync } from "node:child_process";
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { signAdHoc } from "./mach-o-signature.ts";
import { fetchNode, type NodeBinary, nodeBinaries } from "./node-binaries.ts";

export interface ExecutableOptions {
  readonly binary: NodeBinary;
  /** A directory without folders in it: CommonJS files, and what they read. */
  readonly files: string;
  /** The file that is run as a provider. */
  readonly provider: string;
  /** The file that is run under every other name. @default - the provider */
  readonly command?: string;
  /** An empty directory for what is made on the way. */
  readonly work: string;
  readonly executable: string;
  /** Where Node binaries are kept. */
  readonly cache: string;
}

/**
 * One file with Node and the files inside. The same files give the same bytes, on any machine: neither V8's compiled code nor a
 * snapshot is in it. Throws without `llvm-strip`, which takes the names of Node's functions out of it, a sixth of the download.
 */
export async function buildExecutable(options: ExecutableOptions): Promise<void> {
  const { binary, files, provider, command, work, executable, cache } = options;
  const node = join(work, `node-${binary.platform}`);
  copyFileSync(fetchNode(binary, cache), node);
  execFileSync("llvm-strip", [node]);
  const names = readdirSync(files).sort();
  const contents = join(work, "contents.json");
  writeFileSync(contents, JSON.stringify({ provider, command, files: names.filter((name) => name.endsWith(".cjs")) }));
  const settings = join(work, `${binary.platform}.json`);
  const assets = { "contents.json": contents, ...Object.fromEntries(names.map((name) => [name, join(files, name)])) };
  const config = {
    main: join(import.meta.dirname, "start.cjs"),
    executable: node,
    output: executable,
    disableExperimentalSEAWarning: true,
    // What is set for other programs that use Node is not for this one.
    execArgvExtension: "none",
    assets,
  };
  writeFileSync(settings, JSON.stringify(config));
  execFileSync(fetchNode(hostBinary(), cache), ["--build-sea", settings], { stdio: ["ignore", "ignore", "inherit"] });
  if (binary.platform.startsWith("darwin")) writeFileSync(executable, signAdHoc(readFileSync(executable), "talosmith"));
}

/** The Node that builds is the one that is built in: their formats have to be the same. */
function hostBinary(): NodeBinary {
  const system = process.platform === "win32" ? "windows" : process.platform;
  const wanted = `${system}_${process.arch === "x64" ? "amd64" : process.arch}`;
  const found = nodeBinaries.find(({ platform }) => platform === wanted);
  if (found === undefined) throw new Error(`executables are not built on ${wanted}`);
  return found;
}
