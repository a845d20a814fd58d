// SPDX-License-Identifier: Apache-2.0
import {
  drillVerdict,
  findBackup,
  isOf,
  listBackups,
  pruneBackups,
  runSchedule,
  verifyBackup,
} from "../../engine/backup/index.ts";
import { systemTiming } from "../../engine/index.ts";
import { loadEnvironment } from "../../model/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { given } from "../../talos/given.ts";
import { ageOf, counted, sizeOf } from "../../workspace/amounts.ts";
import { type OpenBackups, openBackups, scheduleOf, takeAndPrune, takeBackup } from "../../workspace/backups.ts";
import { drillBackup } from "../../workspace/drill.ts";
import { openWorkspace } from "../../workspace/workspace.ts";
import { type ApprovalFlags, approved } from "../ask.ts";
import type { CommandContext } from "../context.ts";
import { withProgress } from "../output/progress.ts";
import { report } from "../output/report.ts";
import { jsonLine, jsonText, tableOf } from "../output/table.ts";
import { showManager } from "./change.ts";

/** The backups of an environment, after the line with what manages it. */
async function opened(name: string, { json }: { json: boolean }, context: CommandContext): Promise<OpenBackups> {
  const backups = await openBackups(openWorkspace(name, context, { warn: true }));
  await showManager(backups.workspace, { json }, context);
  return backups;
}

export async function create(name: string, { json }: { json: boolean }, context: CommandContext): Promise<void> {
  const backups = await opened(name, { json }, context);
  const backup = await takeBackup(backups, (reason) => context.stderr.write(`… again after: ${reason}\n`));
  const { place } = backups.store;
  const { id, bytes, revision, hash } = backup;
  context.stdout.write(json ? jsonText({ v: 1, place, ...backup }) : `${id}\n`);
  context.stderr.write(`${sizeOf(bytes)} in ${place}, revision ${revision}, hash ${hash}: whole.\n`);
}

export async function list(name: string, { json }: { json: boolean }, context: CommandContext): Promise<void> {
  const { store, cluster, cas } = await opened(name, { json }, context);
  const backups = await listBackups(store, cluster, context.signal);
  const others = backups.filter((backup) => !isOf(backup, cas));
  if (json) {
    context.stdout.write(jsonText({ v: 1, place: store.place, backups }));
    return;
  }
  const now = context.clock.now().getTime();
  const rows = backups.map(({ id, takenAt, bytes, ...backup }) => {
    return { ...backup, name: id, age: ageOf(now - takenAt.getTime()), size: sizeOf(bytes) };
  });
  context.stdout.write(tableOf(["name", "age", "size", "revision", "hash", "pki"], rows));
  for (const { id } of others) context.stderr.write(`${id} is of another cluster that was called ${cluster}.\n`);
}

export async function verify(
  name: string,
  which: string,
  { all, json }: { all: boolean; json: boolean },
  context: CommandContext,
): Promise<void> {
  const { store, cluster, cas } = await opened(name, { json }, context);
  const chosen = all
    ? await listBackups(store, cluster, context.signal)
    : [await findBackup(store, cluster, which, { cas, signal: context.signal })];
  const told = (id: string, reason?: string) => {
    const line = reason === undefined ? `${id}: OK\n` : `${id}: FAILED: ${reason}\n`;
    const data = { v: 1, backup: id, whole: reason === undefined, ...given({ reason }) };
    context.stdout.write(json ? jsonLine(data) : line);
  };
  for (const backup of chosen) {
    try {
      await verifyBackup(store, backup, context.signal);
      told(backup.id);
    } catch (error) {
      const known = TalosError.from(error);
      if (known.code === "canceled" || known.code === "internal") throw error;
      told(backup.id, known.message);
      context.exit(1);
    }
  }
}

export async function prune(
  name: string,
  { dryRun, json, ...approval }: ApprovalFlags & { dryRun: boolean; json: boolean },
  context: CommandContext,
): Promise<void> {
  const { store, cluster, section } = await opened(name, { json }, context);
  const { signal } = context;
  const now = context.clock.now();
  const pruned = (only: { readonly dryRun: boolean }) =>
    pruneBackups(store, cluster, section.keep, now, { ...only, signal });
  const surplus = await pruned({ dryRun: true });
  if (!json) for (const { id } of surplus) context.stdout.write(`${id}\n`);
  const done = (removed: boolean, backups: typeof surplus, sentence: string) =>
    report(context, { json }, { backups: backups.map(({ id }) => id), removed }, sentence);
  if (dryRun) return done(false, surplus, `${counted(surplus.length, "backup")} would be removed.`);
  const question = `Remove ${counted(surplus.length, "backup")} of ${name}? There is no way back.`;
  if (surplus.length > 0 && !(await approved(question, name, approval, context))) return;
  // Also what killed runs have left, which is no backup.
  const removed = await pruned({ dryRun: false });
  done(true, removed, `${counted(removed.length, "backup")} removed.`);
}

/** A backup restored into a simulator of its own: what comes out must be what went in. */
export async function drill(
  name: string,
  which: string,
  { json }: { json: boolean },
  context: CommandContext,
): Promise<void> {
  const backups = await opened(name, { json }, context);
  const done = await withProgress(context, { json }, (events) => drillBackup(backups, which, events));
  if (json) {
    const { backup, same } = done;
    const facts = ({ revision, hash, entries }: typeof done.restored) => ({ revision, hash, entries });
    const [expected, restored] = [facts(backup), facts(done.restored)];
    context.stdout.write(jsonLine({ v: 1, type: "drill", backup: backup.id, same, expected, restored }));
  }
  const verdict = drillVerdict(done);
  if (!json) context.stdout.write(`${verdict}\n`);
}

/** The scheduled backups of one environment, in the foreground. */
export async function run(name: string, { json }: { readonly json: boolean }, context: CommandContext): Promise<void> {
  const { workspace, section } = await opened(name, { json }, context);
  const tell = (message: string, data: Readonly<Record<string, unknown>> = { message }) => {
    const at = context.clock.now().toISOString();
    report(context, { json }, { at, ...data }, `${at} ${message}`);
  };
  if (section.schedule === undefined) {
    throw new TalosError("failed-precondition", `${name} has no backup.schedule`, {
      hint: 'Add one to its file, such as schedule: "0 3 * * *".',
    });
  }
  await runSchedule({
    schedule: () => scheduleOf(loadEnvironment(workspace.root, name)),
    run: async () => {
      const backups = await openBackups(openWorkspace(name, context));
      const { id, revision, bytes, removed } = await takeAndPrune(backups, (reason) => tell(`again after: ${reason}`));
      tell(`${id}: revision ${revision}, ${bytes} bytes`, { backup: id, revision, bytes });
      for (const old of removed) tell(`${old}: removed`, { removed: old });
    },
    onFailure: ({ message, hint }) => tell(`failed: ${message}${hint === undefined ? "" : ` ${hint}`}`),
    onNext: (at) => tell(at === undefined ? "no schedule" : `next backup at ${at.toISOString()}`),
    clock: context.clock,
    entropy: context.entropy,
    timing: systemTiming,
    signal: context.signal,
  });
}
