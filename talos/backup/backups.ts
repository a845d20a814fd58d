// SPDX-License-Identifier: Apache-2.0
import { link } from "node:fs/promises";
import { join } from "node:path";
import { SnapshotCheck } from "../cluster/index.ts";
import { TalosError } from "../errors.ts";
import { type Backup, parseFileName, parseManifest, parts } from "./backup.ts";
import { expired, type Keep } from "./retention.ts";
import { ScratchFile } from "./scratch-file.ts";
import { databaseStatus } from "./snapshot-status.ts";
import type { BackupStore } from "./store.ts";

/** All whole backups of a cluster, oldest first. */
export async function listBackups(
  store: BackupStore,
  cluster: string,
  signal?: AbortSignal,
): Promise<readonly Backup[]> {
  const backups: Backup[] = [];
  for (const { name } of await store.list(signal)) {
    const parsed = parseFileName(name, cluster);
    if (parsed?.part === "manifest") backups.push(await readBackup(store, parsed.id, signal));
  }
  return backups.sort((a, b) => a.takenAt.getTime() - b.takenAt.getTime() || (a.id < b.id ? -1 : 1));
}

/** By its id, or the newest with `latest`. */
export async function findBackup(
  store: BackupStore,
  cluster: string,
  which: string,
  signal?: AbortSignal,
): Promise<Backup> {
  const names = (await store.list(signal)).flatMap(({ name }) => {
    const parsed = parseFileName(name, cluster);
    return parsed?.part === "manifest" ? [parsed] : [];
  });
  const newest = names.sort((a, b) => a.takenAt.getTime() - b.takenAt.getTime()).at(-1);
  const found = which === "latest" ? newest : names.find(({ id }) => id === which);
  if (found === undefined) {
    const what = which === "latest" ? `no backup of ${cluster}` : `no backup ${which} of ${cluster}`;
    throw new TalosError("not-found", `${store.place} holds ${what}`, {
      hint: names.length === 0 ? "Take one with: talosmith backup create" : `The newest is ${newest?.id}.`,
    });
  }
  return readBackup(store, found.id, signal);
}

async function readBackup(store: BackupStore, id: string, signal?: AbortSignal): Promise<Backup> {
  const text = Buffer.concat(await collect(store.read(`${id}${parts.manifest}`, signal))).toString("utf8");
  return parseManifest(text, id, store.place);
}

/** The encrypted secrets bundle that lies beside a backup. */
export async function readSealedSecrets(store: BackupStore, { id }: Backup, signal?: AbortSignal): Promise<string> {
  return Buffer.concat(await collect(store.read(`${id}${parts.pki}`, signal))).toString("utf8");
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
  const check = new SnapshotCheck();
  await file.receive(store.read(name, signal), (chunk) => check.add(chunk));
  const found = { ...check.finish(what), ...(await databaseStatus(file.handle, what)) };
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

async function collect(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return all;
}
