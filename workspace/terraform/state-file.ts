// SPDX-License-Identifier: Apache-2.0

import { existsSync, type FSWatcher, readFileSync, watch } from "node:fs";
import { readdir, readFile, rm, rmdir, statfs } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import * as z from "zod";
import { textIfThere, writeFileAtomically } from "../../talos/atomic-file.ts";
import { TalosError } from "../../talos/errors.ts";
import { jsonIn } from "../../talos/plain-text.ts";
import type { EnvironmentOnDisk } from "../context.ts";
import { runsWithoutTerraform } from "../machine-source.ts";
import { atWork, isPlan, type LockInfo, lockInfo } from "./state-lock.ts";

const plain = z.object({
  version: z.number(),
  serial: z.number().default(0),
  resources: z.array(z.unknown()).default([]),
});
const encrypted = z.object({ serial: z.number().default(0), encrypted_data: z.string().min(1) });

interface TerraformState {
  readonly text: string;
  /** Goes up with each change. */
  readonly serial: number;
  /** How many resources it holds; one that OpenTofu has encrypted does not tell. */
  readonly resources: number | "encrypted";
}

const createdCluster = z.object({
  mode: z.literal("managed"),
  type: z.literal("talosmith_cluster"),
  instances: z.array(z.unknown()).min(1),
});

/** Whether a state has a cluster, not only machines for one. What an encrypted state has is not known: it may. */
export function mayHaveCluster({ text, resources }: Pick<TerraformState, "text" | "resources">): boolean {
  if (resources === "encrypted") return true;
  return plain.parse(JSON.parse(text)).resources.some((resource) => createdCluster.safeParse(resource).success);
}

/** The local Terraform state of an environment. Kept out of cdktf.out, which the CDK's command line deletes. */
export function stateFile(root: string, environment: string): string {
  return join(root, "state", `${environment}.tfstate`);
}

/**
 * The state, or undefined when there is none. An empty or broken file is refused: terraform takes an empty one as
 * "nothing exists yet" and creates everything a second time.
 */
export async function readState(path: string): Promise<TerraformState | undefined> {
  const text = await textIfThere(path);
  if (text === undefined) return undefined;
  const state = parseState(text);
  if (state !== undefined) return state;
  const lock = await emptyStateLock(path);
  if (lock !== undefined && isPlan(lock)) return undefined;
  const back = await wayBack(path);
  if (lock !== undefined)
    throw new TalosError("failed-precondition", `${path} is empty: ${atWork(lock)}`, {
      hint: `Wait until that has ended and try again. If it was killed before it created anything, deploy and destroy clear this. Otherwise: ${back}`,
    });
  throw new TalosError("failed-precondition", `${path} is ${text === "" ? "empty" : "not a whole Terraform state"}`, {
    hint: back,
  });
}

function parseState(text: string): TerraformState | undefined {
  const json = jsonIn(text);
  const hidden = encrypted.safeParse(json);
  if (hidden.success) return { text, serial: hidden.data.serial, resources: "encrypted" };
  const open = plain.safeParse(json);
  return open.success ? { text, serial: open.data.serial, resources: open.data.resources.length } : undefined;
}

/** Takes away the empty file that a plan of a new environment leaves when it is killed: terraform makes it to lock it. */
export async function removeUnwritten(path: string): Promise<void> {
  const lock = await emptyStateLock(path);
  if (lock !== undefined && isPlan(lock)) await rm(path, { force: true });
}

/** Who has locked a state that is empty; undefined when it is not, or nobody has. */
export async function emptyStateLock(path: string): Promise<LockInfo | undefined> {
  if ((await textIfThere(path)) !== "") return undefined;
  const text = await textIfThere(lockFileOf(path));
  return text === undefined ? undefined : lockInfo(jsonIn(text));
}

/** Terraform's own record of who holds the lock. */
export function lockFileOf(path: string): string {
  return join(dirname(path), `.${basename(path)}.lock.info`);
}

/** Names the newest copy that is whole: ours from before each change, or the one that terraform keeps. */
async function wayBack(path: string): Promise<string> {
  for (const copy of [...(await stateBackups(path)), `${path}.backup`]) {
    if (parseState(await readFile(copy, "utf8").catch(() => "")) === undefined) continue;
    const from = relative(dirname(dirname(path)), copy);
    const to = join("state", basename(path));
    return `Nothing was changed. The newest good copy is ${from}: cp ${from} ${to}, then look at the plan.`;
  }
  return `Nothing was changed. There is no good copy in ${dirname(path)}: restore ${basename(path)} from your backup, or import what exists. Remove it only if nothing of the cluster exists any more.`;
}

type Place = Pick<EnvironmentOnDisk, "root" | "environment">;

/**
 * True when Terraform made what there is: its state holds something, or it is kept where only Terraform can look; or when
 * only Terraform can make it, such as workers that join the control plane of another stack.
 */
export async function ownedByTerraform({ root, environment }: Place): Promise<boolean> {
  const { kind, backend, joins } = environment;
  if (!runsWithoutTerraform(kind) || backend.kind !== "local" || joins !== undefined) return true;
  return ((await readState(stateFile(root, environment.name)))?.resources ?? 0) !== 0;
}

/** After a destroy the state says only that nothing is there; its folder goes with the last one. */
export async function removeState(path: string): Promise<void> {
  for (const copy of [path, `${path}.backup`, ...(await stateBackups(path))]) await rm(copy, { force: true });
  for (const folder of [join(dirname(path), "backups"), dirname(path)])
    if (existsSync(folder) && (await readdir(folder)).length === 0) await rmdir(folder);
}

interface KeptState {
  readonly path: string;
  /** Whether a rerun takes over what was created and is not in the state, so that a version before a cut-off write is as good. */
  readonly recreates: boolean;
  /** What went wrong with the state meanwhile; the outcome of the change counts for more. */
  readonly warn: (message: string) => void;
}

/** Copies a local state before and after a change, also after one that failed: what it made is in the state then. */
export async function keepingState<T>({ path, recreates, warn }: KeptState, change: () => Promise<T>): Promise<T> {
  const before = await readState(path);
  await requireRoom(path, before);
  if (before !== undefined) await backUpState(path, before);
  const versions = followVersions(path);
  try {
    return await change();
  } finally {
    versions.close();
    const newest = versions.newest() ?? before;
    await copy(path)
      .catch((error: unknown) => mendCutOff(path, newest, recreates, TalosError.from(error)).then(warn))
      .catch((error: unknown) =>
        warn(`no copy of the state was made after the change: ${TalosError.from(error).message}`),
      );
  }
}

async function copy(path: string): Promise<void> {
  const state = await readState(path);
  if (state !== undefined) await backUpState(path, state);
}

/** After a write of the state that was cut off: keeps the newest whole version, and puts it back where that is safe. Returns what to report. */
async function mendCutOff(
  path: string,
  newest: StateText | undefined,
  recreates: boolean,
  error: TalosError,
): Promise<string> {
  if (newest !== undefined) await backUpState(path, newest);
  if (!recreates) return `no copy of the state was made after the change: ${error.message}`;
  if (newest === undefined) await rm(path);
  else await writeFileAtomically(path, newest.text);
  return `Terraform was killed while it wrote ${path}. The version before that write is back; the next deploy continues from there.`;
}

/**
 * Remembers the newest whole version of a state while Terraform changes it. Terraform writes the file in place, after each
 * resource: when it is killed meanwhile, the file is empty, and its own copy is the one from before the change.
 */
function followVersions(path: string) {
  let newest: string | undefined;
  const read = () => {
    try {
      // At once: the next write begins by emptying the file.
      const text = readFileSync(path, "utf8");
      if (isClosed(text)) newest = text;
    } catch {
      // Removed meanwhile, or not readable: the newest version is still the one that was seen.
    }
  };
  const watcher = watcherOf(dirname(path));
  watcher?.on("change", (_, file) => file === basename(path) && read());
  return {
    newest: () => (newest === undefined ? undefined : parseState(newest)),
    close: () => watcher?.close(),
  };
}

/** Undefined where the system has no more to give: only the version from before the change is known then. */
function watcherOf(folder: string): FSWatcher | undefined {
  try {
    const watcher = watch(folder, { persistent: false });
    return watcher.on("error", () => watcher.close());
  } catch {
    return undefined;
  }
}

/** Whether a text may be a whole state, without reading megabytes of JSON after each resource. */
function isClosed(text: string): boolean {
  return text.startsWith("{\n") ? text.endsWith("\n}\n") : text.trimEnd().endsWith("}");
}

const kept = 10;
const mebibyte = 2 ** 20;

interface StateText {
  readonly text: string;
  readonly serial: number;
}

/** Copies of a state from before and after its changes, newest first. */
export async function stateBackups(path: string): Promise<readonly string[]> {
  const folder = join(dirname(path), "backups");
  const name = basename(path, ".tfstate");
  const files = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  return files
    .flatMap((file) => {
      const [, environment, serial] = /^(.+)\.(\d+)\.tfstate$/.exec(file) ?? [];
      return environment === name ? [{ path: join(folder, file), serial: Number(serial) }] : [];
    })
    .sort((a, b) => b.serial - a.serial)
    .map((copy) => copy.path);
}

/** Keeps what the state says now, and the last ten of such copies. Terraform itself keeps only one, from before. */
export async function backUpState(path: string, state: StateText): Promise<void> {
  const copy = join(dirname(path), "backups", `${basename(path, ".tfstate")}.${state.serial}.tfstate`);
  await writeFileAtomically(copy, state.text);
  for (const old of (await stateBackups(path)).slice(kept)) await rm(old, { force: true });
}

/** Terraform loses a state, and its emergency copy, on a full disk: better not to begin. */
export async function requireRoom(path: string, state: StateText | undefined): Promise<void> {
  const { bavail, bsize } = await statfs(dirname(path));
  const needed = Math.max(16 * mebibyte, 8 * (state?.text.length ?? 0));
  if (bavail * bsize >= needed) return;
  throw new TalosError(
    "failed-precondition",
    `the disk of ${dirname(path)} is full: ${Math.floor((bavail * bsize) / mebibyte)} MiB are free`,
    {
      hint: `Terraform could lose the state there. Make at least ${Math.ceil(needed / mebibyte)} MiB free and try again.`,
    },
  );
}
