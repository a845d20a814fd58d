// SPDX-License-Identifier: Apache-2.0
// A migration changes several files, and a process can be killed between two of them: what it is about to write is on the
// disk first, so that the next run finishes it.
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { holding } from "../engine/index.ts";
import { fileReader } from "../model/index.ts";
import { removeIfEmpty, writeFileAtomically } from "../talos/atomic-file.ts";
import { TalosError } from "../talos/errors.ts";
import { jsonIn } from "../talos/plain-text.ts";
import { saveTexts } from "./environment-file.ts";

/** Files of a migration, by their paths from the root, in the order in which they are written. */
export interface Migration {
  readonly environment: string;
  readonly to: string;
  readonly texts: ReadonlyMap<string, string>;
}

const journalSchema = z.object({
  v: z.literal(1),
  environment: z.string(),
  to: z.string(),
  files: z.array(z.object({ file: z.string(), before: z.string(), after: z.string() })),
});

type Journal = Readonly<z.output<typeof journalSchema>>;

const stateFolder = "state";
const journalFile = `${stateFolder}/migration.json`;
const digest = (text: string) => createHash("sha256").update(text).digest("hex");

/** One migration of a project at a time. Throws while another process has one. */
export async function holdingMigrations<T>(root: string, work: () => Promise<T>): Promise<T> {
  const lock = join(root, stateFolder, "migrate.lock");
  try {
    return await holding(lock, work, "another config migrate runs in this project");
  } finally {
    await removeIfEmpty(join(root, stateFolder));
  }
}

/** Writes all files, so that a run that is killed on the way can be finished. */
export async function saveMigration(
  root: string,
  { environment, to, texts }: Migration,
  save = saveTexts,
): Promise<void> {
  const read = fileReader(root);
  const files = [...texts].map(([file, after]) => ({ file, before: digest(read(file) ?? ""), after }));
  // Patches may hold secrets: readable by the owner only.
  const journal: Journal = { v: 1, environment, to, files };
  await writeFileAtomically(join(root, journalFile), JSON.stringify(journal));
  await writeAll(root, journal, save);
}

/** Finishes what a killed run has left. Undefined where there is nothing. Throws where a file has changed since then. */
export async function finishMigration(
  root: string,
): Promise<{ readonly environment: string; readonly to: string; readonly files: readonly string[] } | undefined> {
  const journal = readJournal(root);
  if (journal === undefined) return undefined;
  await writeAll(root, journal, saveTexts);
  const { environment, to, files } = journal;
  return { environment, to, files: files.map(({ file }) => file) };
}

/** Between two files of a migration an environment means neither what it did nor what it will. */
export function refuseUnfinishedMigration(root: string): void {
  const journal = readJournal(root);
  if (journal === undefined) return;
  const { environment, to } = journal;
  throw new TalosError("failed-precondition", `the migration of ${environment} to ${to} was interrupted`, {
    hint: `Finish it: talosmith config migrate ${environment} --to ${to}`,
  });
}

async function writeAll(root: string, { files }: Journal, save: typeof saveTexts): Promise<void> {
  const read = fileReader(root);
  const pending = files.filter(({ file, after }) => read(file) !== after);
  const changed = pending.find(({ file, before }) => digest(read(file) ?? "") !== before);
  if (changed !== undefined)
    throw new TalosError("failed-precondition", `${changed.file} was changed after the migration was interrupted`, {
      hint: `Restore the files from version control, remove ${journalFile}, and run the migration again.`,
    });
  for (const { file, after } of pending) await save(root, new Map([[file, after]]));
  await rm(join(root, journalFile), { force: true });
  await removeIfEmpty(join(root, stateFolder));
}

function readJournal(root: string): Journal | undefined {
  const file = join(root, journalFile);
  if (!existsSync(file)) return undefined;
  const journal = journalSchema.safeParse(jsonIn(readFileSync(file, "utf8")));
  if (journal.success) return journal.data;
  throw new TalosError("failed-precondition", `${journalFile} is not readable`, {
    hint: "Restore the environment's files from version control, then remove it.",
  });
}
