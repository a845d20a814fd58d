// SPDX-License-Identifier: Apache-2.0

import { link } from "node:fs/promises";
import { join } from "node:path";
import { TalosError } from "../../talos/errors.ts";
import { isGiven } from "../../talos/given.ts";
import { undefinedIf } from "../failures.ts";
import { type Backup, parseFileName, parseManifest, parts } from "./backup.ts";
import { type BackupStore, ScratchFile } from "./scratch-file.ts";
import { receiveSnapshot } from "./snapshot-status.ts";

/** All whole backups of a cluster, oldest first. */
export async function listBackups(
  store: BackupStore,
  cluster: string,
  signal?: AbortSignal,
): Promise<readonly Backup[]> {
  const backups: Backup[] = [];
  for (const { id } of await manifestsOf(store, cluster, signal)) {
    const backup = await readBackup(store, id, signal);
    if (backup !== undefined) backups.push(backup);
  }
  return backups.sort((a, b) => a.takenAt.getTime() - b.takenAt.getTime() || (a.id < b.id ? -1 : 1));
}

async function manifestsOf(store: BackupStore, cluster: string, signal: AbortSignal | undefined) {
  const names = (await store.list(signal)).map(({ name }) => parseFileName(name, cluster));
  return names.filter(isGiven).filter(({ part }) => part === "manifest");
}

export interface FindOptions {
  /**
   * Fingerprints that the cluster's Talos CA is or was known by: `latest` is then the newest of those, and leaves out
   * what another cluster of the same name has left. @default the name alone counts
   */
  readonly cas?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** By its id, or the newest with `latest`. */
export async function findBackup(
  store: BackupStore,
  cluster: string,
  which: string,
  { cas, signal }: FindOptions = {},
): Promise<Backup> {
  const manifests = await manifestsOf(store, cluster, signal);
  const newestFirst = manifests.sort((a, b) => b.takenAt.getTime() - a.takenAt.getTime());
  for (const { id } of newestFirst.filter((name) => which === "latest" || name.id === which)) {
    const backup = await readBackup(store, id, signal);
    if (backup !== undefined && (which !== "latest" || isOf(backup, cas))) return backup;
  }
  const what = which === "latest" ? `no backup of ${cluster}` : `no backup ${which} of ${cluster}`;
  const [newest] = newestFirst;
  throw new TalosError("not-found", `${store.place} holds ${what}`, { hint: hintFor(which, newest?.id) });
}

function hintFor(which: string, newest: string | undefined): string {
  if (newest === undefined) return "Take one with: talosmith backup create <environment>";
  if (which !== "latest") return `The newest is ${newest}. To list them: talosmith backup list <environment>`;
  return `The newest there, ${newest}, is of another cluster of this name. Take one with: talosmith backup create <environment>`;
}

/** Whether a backup is of the cluster that is known by these CAs; any is when they are not known. */
export function isOf({ caFingerprint }: Backup, cas: readonly string[] | undefined): boolean {
  return cas === undefined || cas.includes(caFingerprint);
}

/** Undefined when another run has removed it since it was listed. */
async function readBackup(store: BackupStore, id: string, signal?: AbortSignal): Promise<Backup | undefined> {
  const text = await readText(store, `${id}${parts.manifest}`, signal).catch(undefinedIf("not-found"));
  return text === undefined ? undefined : parseManifest(text, id, store.place);
}

/** Fetches a backup's snapshot into a folder, checked as `verifyBackup` does, and returns its path. */
export async function downloadBackup(
  store: BackupStore,
  backup: Backup,
  folder: string,
  signal?: AbortSignal,
): Promise<string> {
  const file = await ScratchFile.in(folder);
  try {
    await receiveChecked(store, backup, file, signal);
    const path = join(folder, `${backup.id}${parts.snapshot}`);
    await link(file.path ?? "", path);
    return path;
  } finally {
    await file.discard();
  }
}

/**
 * Reads a backup back from its store from end to end. Throws when it is not what was put there: size, SHA-256, and what
 * etcd itself would say of it.
 */
export async function verifyBackup(store: BackupStore, backup: Backup, signal?: AbortSignal): Promise<void> {
  const file = await ScratchFile.nameless();
  try {
    await receiveChecked(store, backup, file, signal);
  } finally {
    await file.discard();
  }
}

async function receiveChecked(
  store: BackupStore,
  backup: Backup,
  file: ScratchFile,
  signal?: AbortSignal,
): Promise<void> {
  const name = `${backup.id}${parts.snapshot}`;
  const what = `${store.place}/${name}`;
  const found = await receiveSnapshot(file, store.read(name, signal), what);
  for (const fact of ["bytes", "sha256", "revision", "hash", "entries"] as const) {
    if (found[fact] === backup[fact]) continue;
    throw new TalosError("failed-precondition", `${what} is not what was put there: its ${fact} is ${found[fact]}`, {
      hint: `Its manifest says ${backup[fact]}. Use another backup.`,
    });
  }
}

/** The manifest goes first: what remains of a run that is killed here is no backup any more. */
export async function removeBackup(store: BackupStore, id: string, signal?: AbortSignal): Promise<void> {
  for (const part of [parts.manifest, parts.pki, parts.snapshot]) await store.remove(`${id}${part}`, signal);
}

/** A snapshot without a manifest may still be on its way; after this long nobody is at it any more. */
const orphansDieAfter = 24 * 3_600_000;

/** Removes what no rule keeps, and what runs that were killed have left. Returns what was removed, oldest first. */
export async function pruneBackups(
  store: BackupStore,
  cluster: string,
  keep: Keep,
  now: Date,
  { dryRun = false, signal }: { readonly dryRun?: boolean; readonly signal?: AbortSignal } = {},
): Promise<readonly Backup[]> {
  const backups = await listBackups(store, cluster, signal);
  const old = expired(backups, keep, now);
  if (dryRun) return old;
  for (const { id } of old) await removeBackup(store, id, signal);
  const whole = new Set(backups.map(({ id }) => id));
  for (const { name } of await store.list(signal)) {
    const parsed = parseFileName(name, cluster);
    if (parsed === undefined || whole.has(parsed.id)) continue;
    if (now.getTime() - parsed.takenAt.getTime() > orphansDieAfter) await store.remove(name, signal);
  }
  await store.sweep(now, signal);
  return old;
}

async function readText(store: BackupStore, name: string, signal?: AbortSignal): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of store.read(name, signal)) pieces.push(piece);
  return Buffer.concat(pieces).toString("utf8");
}

export interface Keep {
  /** The newest so many. */
  readonly count?: number | undefined;
  /** Everything younger than this, in milliseconds. */
  readonly age?: number | undefined;
}

/**
 * The backups that no rule keeps, oldest first. Each rule keeps what it names, so that together they keep more and not
 * less. Without a rule all are kept, and the newest one always is. Pure.
 */
export function expired<B extends { readonly takenAt: Date }>(
  backups: readonly B[],
  keep: Keep,
  now: Date,
): readonly B[] {
  if (keep.count === undefined && keep.age === undefined) return [];
  const newestFirst = [...backups].sort((a, b) => b.takenAt.getTime() - a.takenAt.getTime());
  const kept = Math.max(1, keep.count ?? 0);
  return newestFirst
    .filter(({ takenAt }, index) => index >= kept && now.getTime() - takenAt.getTime() >= (keep.age ?? 0))
    .reverse();
}
