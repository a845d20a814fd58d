// SPDX-License-Identifier: Apache-2.0
import { rm } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import * as z from "zod";
import { textIfThere, writeFileAtomically } from "../../talos/atomic-file.ts";
import { isAlive, processIdentity, sees } from "../../talos/living-process.ts";
import { jsonIn } from "../../talos/plain-text.ts";

const schema = z.object({
  v: z.literal(1),
  host: z.string(),
  /** Of the talosmith that changes the state. Undefined once it has ended the change, and left the state cut off. */
  process: z
    .object({ pid: z.number(), boot: z.string(), started: z.string(), namespace: z.string().optional() })
    .optional(),
  /** The ID of the lock under which its terraform writes the state. */
  lock: z.string().optional(),
  /** Whether there was no state before. */
  first: z.boolean(),
  /** What a rerun would create a second time: addresses of what is created with other providers than talosmith's. */
  others: z.array(z.string()),
});

/**
 * A change of a local state, on disk while it runs, together with the newest whole version of the state. A change that ends
 * with a whole state removes both; what is left is for the next run to mend a state by, when everything was killed at once.
 */
export type ChangeRecord = z.infer<typeof schema>;

function recordFile(path: string): string {
  return join(dirname(path), "backups", `${basename(path, ".tfstate")}.change.json`);
}

/** The newest whole version that was seen of a state while it was changed. */
export function newestFile(path: string): string {
  return join(dirname(path), "backups", `${basename(path, ".tfstate")}.newest.tfstate`);
}

/** Begins a record. Undefined where another run on this computer has one: its terraform holds the state's lock, or will. */
export async function beginRecord(
  path: string,
  before: string | undefined,
  others: readonly string[],
): Promise<ChangeRecord | undefined> {
  const known = await readRecord(path);
  if (known?.process !== undefined && (await sees(known.process)) && (await isAlive(known.process))) return undefined;
  if (known !== undefined) await removeRecord(path);
  const process = await processIdentity(globalThis.process.pid);
  const record: ChangeRecord = { v: 1, host: hostname(), process, first: before === undefined, others: [...others] };
  try {
    await writeRecord(path, record, true);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return undefined;
    throw error;
  }
  if (before !== undefined) await writeFileAtomically(newestFile(path), before);
  return record;
}

export async function writeRecord(path: string, record: ChangeRecord, exclusive = false): Promise<void> {
  await writeFileAtomically(recordFile(path), `${JSON.stringify(record)}\n`, { exclusive });
}

export async function readRecord(path: string): Promise<ChangeRecord | undefined> {
  return schema.safeParse(jsonIn((await textIfThere(recordFile(path))) ?? "")).data;
}

export async function removeRecord(path: string): Promise<void> {
  for (const file of [recordFile(path), newestFile(path)]) await rm(file, { force: true });
}

/** Whether the run of a record has ended for certain: not where it was on another computer, or in another container. */
export async function hasEnded({ host, process }: ChangeRecord): Promise<boolean> {
  if (process === undefined) return true;
  if (host !== hostname()) return false;
  const { boot } = await processIdentity(globalThis.process.pid);
  return boot !== process.boot || ((await sees(process)) && !(await isAlive(process)));
}
