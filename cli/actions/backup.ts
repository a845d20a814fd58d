// SPDX-License-Identifier: Apache-2.0
import { type Backup, findBackup, listBackups, pruneBackups, verifyBackup } from "../../talos/backup/index.ts";
import { TalosError } from "../../talos/errors.ts";
import type { CommandContext } from "../context.ts";
import { openBackups, takeBackup } from "../helper/backups.ts";
import { ageOf, sizeOf } from "../output/amounts.ts";
import { table } from "../output/table.ts";

export async function create(name: string, { json }: { json: boolean }, context: CommandContext): Promise<void> {
  const backups = await openBackups(name, context);
  const backup = await takeBackup(backups, context, (reason) => context.stderr.write(`… again after: ${reason}\n`));
  if (json) context.stdout.write(`${JSON.stringify({ v: 1, place: backups.store.place, ...backup }, undefined, 2)}\n`);
  else context.stdout.write(`${backup.id}\n`);
  context.stderr.write(
    `${sizeOf(backup.bytes)} in ${backups.store.place}, revision ${backup.revision}, hash ${backup.hash}: whole.\n`,
  );
}

export async function list(name: string, { json }: { json: boolean }, context: CommandContext): Promise<void> {
  const { store, cluster } = await openBackups(name, context);
  const backups = await listBackups(store, cluster, context.signal);
  if (json) {
    context.stdout.write(`${JSON.stringify({ v: 1, place: store.place, backups }, undefined, 2)}\n`);
    return;
  }
  const now = context.clock.now();
  const row = (backup: Backup) => [
    backup.id,
    ageOf(now.getTime() - backup.takenAt.getTime()),
    sizeOf(backup.bytes),
    String(backup.revision),
    backup.hash,
    backup.pki ? "yes" : "no",
  ];
  context.stdout.write(table(["name", "age", "size", "revision", "hash", "pki"], backups.map(row)));
}

export async function verify(
  name: string,
  which: string,
  { all }: { all: boolean },
  context: CommandContext,
): Promise<void> {
  const { store, cluster } = await openBackups(name, context);
  const chosen = all
    ? await listBackups(store, cluster, context.signal)
    : [await findBackup(store, cluster, which, context.signal)];
  for (const backup of chosen) {
    try {
      await verifyBackup(store, backup, context.signal);
      context.stdout.write(`${backup.id}: OK\n`);
    } catch (error) {
      const known = TalosError.from(error);
      if (known.code === "canceled" || known.code === "internal") throw error;
      context.stdout.write(`${backup.id}: FAILED: ${known.message}\n`);
      context.exit(1);
    }
  }
}

export async function prune(name: string, { dryRun }: { dryRun: boolean }, context: CommandContext): Promise<void> {
  const { store, cluster, section } = await openBackups(name, context);
  const removed = await pruneBackups(store, cluster, section.keep, context.clock.now(), {
    dryRun,
    signal: context.signal,
  });
  for (const { id } of removed) context.stdout.write(`${id}\n`);
  const count = removed.length === 1 ? "1 backup" : `${removed.length} backups`;
  context.stderr.write(dryRun ? `${count} would be removed.\n` : `${count} removed.\n`);
}
