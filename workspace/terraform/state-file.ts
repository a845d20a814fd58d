// SPDX-License-Identifier: Apache-2.0

import { existsSync } from "node:fs";
import { readdir, readFile, rm, rmdir, stat, statfs } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import * as z from "zod";
import { textIfThere, writeFileAtomically } from "../../talos/atomic-file.ts";
import { TalosError } from "../../talos/errors.ts";
import { jsonIn } from "../../talos/plain-text.ts";
import type { EnvironmentOnDisk } from "../context.ts";
import { runsWithoutTerraform } from "../machine-source.ts";
import { hasEnded, newestFile, readRecord, removeRecord } from "./change-record.ts";
import { atWork, holderHasEnded, isPlan, type LockInfo, lockFileOf, lockOf } from "./state-lock.ts";

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
  const lock = await lockOf(path);
  if (text === "" && lock !== undefined && isPlan(lock)) return undefined;
  throw await cutOffError(path, text, lock);
}

async function cutOffError(path: string, text: string, lock: LockInfo | undefined): Promise<TalosError> {
  const refused = (words: string, hint: string) => {
    const what = text === "" ? "is empty" : "is not a whole Terraform state";
    return new TalosError("failed-precondition", `${path} ${what}${words}`, { hint });
  };
  const back = await wayBack(path);
  if (lock === undefined || isPlan(lock)) return refused("", back);
  if (!(await holderHasEnded(path, lock)))
    return refused(`: ${atWork(lock)}`, `Wait until that has ended and try again. If it was killed: ${back}`);
  return refused(`: ${atWork(lock, "was")}, and that process has ended`, await nextStep(path, back));
}

/** What to do about a state whose terraform was killed. */
async function nextStep(path: string, back: string): Promise<string> {
  const name = basename(path, ".tfstate");
  const cutOff = await cutOffChange(path);
  if (cutOff !== undefined && cutOff.others.length > 0)
    return `It was creating ${cutOff.others.join(", ")}, which may exist without being in the state: import or delete what exists. ${back}`;
  if (cutOff?.version !== undefined)
    return `Run talosmith deploy ${name}, or destroy: it goes on from the state before that write.`;
  if (await neverWritten(path))
    return `Where it has created nothing, deploy, destroy and unlock remove the file. Otherwise: ${back}`;
  return back;
}

/** A state that is cut off, and the change that was writing it. */
interface CutOffChange {
  /** What a rerun would create a second time. */
  readonly others: readonly string[];
  /** What the state was before that write; "none" when it was the first. Undefined where that is not known. */
  readonly version: StateText | "none" | undefined;
}

/** The change whose talosmith and terraform were killed while they wrote a state; undefined where it may still run, or none is known. */
export async function cutOffChange(path: string): Promise<CutOffChange | undefined> {
  const record = await readRecord(path);
  if (record?.lock === undefined || record.lock !== (await lockOf(path))?.ID || !(await hasEnded(record)))
    return undefined;
  const newest = await textIfThere(newestFile(path));
  const version = newest === undefined ? (record.first ? "none" : undefined) : parseState(newest);
  return (await isCutOff(path)) ? { others: record.others, version } : undefined;
}

/** Whether a state is there, and is not a whole one. */
export async function isCutOff(path: string): Promise<boolean> {
  const text = await textIfThere(path);
  return text !== undefined && parseState(text) === undefined;
}

export function parseState(text: string): TerraformState | undefined {
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
  return (await textIfThere(path)) === "" ? lockOf(path) : undefined;
}

/** The lock's file is written after the empty state is created and locked: a state that was cut off later is newer. */
export async function neverWritten(path: string): Promise<boolean> {
  const [state, lock] = await Promise.all([stat(path), stat(lockFileOf(path))]);
  return state.mtimeMs <= lock.mtimeMs && !existsSync(`${path}.backup`) && (await stateBackups(path)).length === 0;
}

/** Names the newest copy that is whole: of the change that was cut off, from before each change, or the one that terraform keeps. */
async function wayBack(path: string): Promise<string> {
  const seen = (await cutOffChange(path)) === undefined ? [] : [newestFile(path)];
  for (const copy of [...seen, ...(await stateBackups(path)), `${path}.backup`]) {
    if (parseState(await readFile(copy, "utf8").catch(() => "")) === undefined) continue;
    const from = relative(dirname(dirname(path)), copy);
    const to = join("state", basename(path));
    return `The newest good copy is ${from}: cp ${from} ${to}, then look at the plan.`;
  }
  return `There is no good copy in ${dirname(path)}: restore ${basename(path)} from your backup, or import what exists. Remove it only if nothing of the cluster exists any more.`;
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
  await removeRecord(path);
  for (const folder of [join(dirname(path), "backups"), dirname(path)])
    if (existsSync(folder) && (await readdir(folder)).length === 0) await rmdir(folder);
}

const kept = 10;
const mebibyte = 2 ** 20;

export interface StateText {
  readonly text: string;
  readonly serial: number;
}

/** Copies of a state from before and after its changes, newest first. */
async function stateBackups(path: string): Promise<readonly string[]> {
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
