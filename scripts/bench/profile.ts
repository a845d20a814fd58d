// SPDX-License-Identifier: Apache-2.0
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Where the processor's time of one kind of work goes, the dearest first. */
export interface Profile {
  readonly name: string;
  /** Of all its processes, without the time in which they waited. */
  readonly milliseconds: number;
  readonly parts: readonly { readonly module: string; readonly share: number }[];
}

/** What a process started with `--cpu-prof` leaves behind, as far as it matters here. */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: {
      readonly functionName: string;
      readonly url: string;
      readonly lineNumber: number;
      readonly columnNumber: number;
    };
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

const shownParts = 8;

/** Runs the work with options for Node that make every process write a profile, and reads what they have written. */
export async function profileOf(
  name: string,
  work: (nodeOptions: readonly string[]) => Promise<void> | void,
): Promise<Profile> {
  const directory = mkdtempSync(join(tmpdir(), "talosmith-profile-"));
  try {
    await work(["--cpu-prof", `--cpu-prof-dir=${directory}`]);
    const files = readdirSync(directory).filter((file) => file.endsWith(".cpuprofile"));
    if (files.length === 0) throw new Error(`${name}: no process has left a profile`);
    const profiles = files.map((file) => JSON.parse(readFileSync(join(directory, file), "utf8")) as CpuProfile);
    return summarize(name, profiles, moduleFinder());
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Self time by module, in shares of the time in which something was done. */
export function summarize(
  name: string,
  profiles: readonly CpuProfile[],
  moduleOf: (frame: CpuProfile["nodes"][number]["callFrame"]) => string | undefined,
): Profile {
  const spent = new Map<string, number>();
  for (const { nodes, samples, timeDeltas } of profiles) {
    const modules = new Map(nodes.map(({ id, callFrame }) => [id, moduleOf(callFrame)]));
    samples.forEach((id, index) => {
      const module = modules.get(id);
      if (module !== undefined) spent.set(module, (spent.get(module) ?? 0) + (timeDeltas[index] ?? 0) / 1000);
    });
  }
  const milliseconds = [...spent.values()].reduce((sum, part) => sum + part, 0);
  const parts = [...spent]
    .sort(([, left], [, right]) => right - left)
    .slice(0, shownParts)
    .map(([module, part]) => ({ module, share: part / milliseconds }));
  return { name, milliseconds, parts };
}

/** Names the module of a frame; undefined where nothing was done. Bundles are looked up in their source maps. */
function moduleFinder(): (frame: CpuProfile["nodes"][number]["callFrame"]) => string | undefined {
  const maps = new Map<string, SourceMap | undefined>();
  const mapOf = (file: string): SourceMap | undefined => {
    if (!maps.has(file)) {
      const beside = `${file}.map`;
      maps.set(file, existsSync(beside) ? new SourceMap(JSON.parse(readFileSync(beside, "utf8"))) : undefined);
    }
    return maps.get(file);
  };
  return ({ functionName, url, lineNumber, columnNumber }) => {
    if (functionName === "(idle)") return undefined;
    if (functionName === "(garbage collector)") return "garbage collection";
    if (url === "") return "native code";
    if (url.startsWith("node:")) return partOfNode(url);
    const file = url.startsWith("file:") ? fileURLToPath(url) : url;
    const entry = mapOf(file)?.findEntry(lineNumber, columnNumber);
    return moduleName(entry !== undefined && "originalSource" in entry ? entry.originalSource : file);
  };
}

/** What Node.js was at. */
export function partOfNode(url: string): string {
  if (/modules|bootstrap|process\/pre_execution|^node:vm$/.test(url)) return "Node.js loading code";
  if (/tls|crypto/.test(url)) return "Node.js TLS";
  if (/http2|net|stream|dns/.test(url)) return "Node.js network";
  return "Node.js otherwise";
}

/** A package's name, or the folder of a file of ours. */
export function moduleName(path: string): string {
  const [, scope, rest] = /.*node_modules\/(?:(@[^/]+)\/)?([^/]+)/.exec(path) ?? [];
  if (rest !== undefined) return scope === undefined ? rest : `${scope}/${rest}`;
  const ours =
    /(?:^|\/)((?:talos|model|engine|workspace|watch|provider|constructs|simulator|cloud-init|scripts|cli)\/.*)$/.exec(
      path,
    );
  const folders = ours?.[1]?.split("/").slice(0, -1) ?? [];
  return folders.length === 0 ? "other" : folders.slice(0, 2).join("/");
}

/** A command that starts Node with these options, for a program that takes only the name of an executable. */
export function wrapper(directory: string, name: string, nodeOptions: readonly string[], script: string): string {
  mkdirSync(directory, { recursive: true });
  const file = join(directory, name);
  const words = [process.execPath, ...nodeOptions, script].map((word) => `'${word.replaceAll("'", "'\\''")}'`);
  writeFileSync(file, `#!/bin/sh\nexec ${words.join(" ")} "$@"\n`, { mode: 0o755 });
  return file;
}
