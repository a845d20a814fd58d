// SPDX-License-Identifier: Apache-2.0
// Brings the table of talos/version/releases.ts up to date from Talos's Go modules, and prints what changed:
// `npm run refresh:releases`. Needs go and a module proxy; facts of modules that cannot be had stay as they are.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { documentKinds } from "../talos/config/schema/kinds.ts";
import { type Release, releases } from "../talos/version/releases.ts";
import {
  contractQuestions,
  differences,
  factsOf,
  type ModuleFile,
  newestPatch,
  registeredKinds,
  withReleases,
} from "./release-facts.ts";

const [talosModule, machineryModule] = ["github.com/siderolabs/talos", "github.com/siderolabs/talos/pkg/machinery"];
const file = join(import.meta.dirname, "..", "talos", "version", "releases.ts");
/** How many patch releases beyond the newest known are asked for, where the proxy gives no list. */
const ahead = 6;

const say = (line: string) => process.stdout.write(`${line}\n`);

/** What go prints, or undefined when it fails: the proxy does not have it, or nothing answers. */
function go(...args: readonly string[]): string | undefined {
  try {
    return execFileSync("go", [...args], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") throw error;
    return undefined;
  }
}

/** The versions of the machinery: all of them, or, from a proxy that gives no list, the newest and those after each known. */
function versions(): readonly string[] {
  const listed = go("list", "-m", "-versions", machineryModule)?.split(" ").slice(1);
  if (listed !== undefined) return listed;
  say("The module proxy gives no list of versions; asking for single ones.");
  const wanted = releases.flatMap(({ newest }) => {
    const [, minor, patch] = newest.split(/[.-]/).map(Number);
    return Array.from({ length: ahead }, (_, index) => `v1.${minor}.${(patch ?? 0) + index}`);
  });
  return ["latest", ...wanted].flatMap(
    (version) => go("list", "-m", `${machineryModule}@${version}`)?.split(" ")[1] ?? [],
  );
}

function folderOf(module: string, version: string): string | undefined {
  const answer = go("mod", "download", "-json", `${module}@${version}`);
  const folder = answer === undefined ? undefined : (JSON.parse(answer) as { readonly Dir?: string }).Dir;
  if (folder === undefined) say(`${module}@${version} cannot be had; what it states stays as it is.`);
  return folder;
}

function filesIn(folder: string | undefined): ModuleFile {
  return (path) =>
    folder !== undefined && existsSync(join(folder, path)) ? readFileSync(join(folder, path), "utf8") : undefined;
}

/** Document kinds and contract questions are code, not data: what the table cannot take is named. */
function reportCode(minor: number, folder: string): void {
  const config = join(folder, "config");
  const sources = readdirSync(config, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".go") && !name.endsWith("_test.go") && !name.includes("registry/"))
    .map((name) => readFileSync(join(config, name), "utf8"));
  const [registered, known] = [registeredKinds(sources), Object.entries(documentKinds)];
  const missing = registered.filter((kind) => kind !== "v1alpha1" && !Object.hasOwn(documentKinds, kind));
  const removed = known
    .filter(([kind, [, since]]) => since <= minor && !registered.includes(kind))
    .map(([kind]) => kind);
  if (missing.length > 0) say(`1.${minor} has kinds that talos/config/schema lacks: ${missing.join(", ")}`);
  if (removed.length > 0) say(`1.${minor} does not have kinds of talos/config/schema: ${removed.join(", ")}`);
  if (releases.some((release) => release.minor === minor)) return;
  const questions = contractQuestions(minor, readFileSync(join(config, "contract.go"), "utf8"));
  say(
    `Contract 1.${minor} is new; add to features and defaultChanges what these mean: ${questions.join(", ") || "none"}`,
  );
}

function refresh(found: readonly string[]): readonly Release[] {
  const newMinors = found.flatMap((version) => Number(/^v1\.(\d+)\.\d+$/.exec(version)?.[1] ?? 0));
  const minors = [...new Set([...releases.map(({ minor }) => minor), ...newMinors])]
    .filter((minor) => minor >= releases[0].minor)
    .sort((left, right) => left - right);
  return minors.map((minor) => {
    const before = releases.find((release) => release.minor === minor);
    const newest = newestPatch(minor, before?.newest, found) ?? "";
    const machinery = folderOf(machineryModule, newest);
    const facts = factsOf(minor, filesIn(machinery), filesIn(folderOf(talosModule, newest)));
    if (machinery !== undefined) reportCode(minor, machinery);
    // A release that is new here begins as the one before it; whoever commits it looks at every line.
    const after: Release = { ...(before ?? releases.at(-1) ?? releases[0]), ...facts, minor, newest };
    for (const line of differences(before, after)) say(line);
    return after;
  });
}

try {
  say(go("version") ?? "go does not start");
  const before = readFileSync(file, "utf8");
  const after = withReleases(before, refresh(versions()));
  if (after !== before) writeFileSync(file, after);
  say(after === before ? "Nothing is new." : "talos/version/releases.ts was rewritten. Now: npm run generate:versions");
} catch (error) {
  if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  say("Skipped: go is not on the PATH. Nothing was changed.");
}
