// SPDX-License-Identifier: Apache-2.0

import { type FileHandle, mkdir, open } from "node:fs/promises";
import { dirname, join } from "node:path";
import * as z from "zod";
import { syncFolder, textIfThere } from "../../talos/atomic-file.ts";
import { TalosError } from "../../talos/errors.ts";
import { fileError } from "../../talos/file-error.ts";
import { jsonIn } from "../../talos/plain-text.ts";

const schema = z.object({
  at: z.string(),
  /** Which cluster, by its CA. */
  cluster: z.string(),
  step: z.string(),
  event: z.enum(["begun", "accepted", "finished", "failed"]),
});

/** One thing that was done. Names of machines and steps only: no address, no secret. */
export type JournalEntry = Readonly<z.output<typeof schema>>;

/** What was done to a cluster, for the cases in which looking cannot tell, and for people. */
export interface Journal {
  append(entry: JournalEntry): Promise<void>;
  entries(): Promise<readonly JournalEntry[]>;
}

/** Where a project keeps the journal of a cluster, by the cluster's name: environments may have other names. */
export function journalPath(cluster: string): string {
  return join("generated", cluster, "journal.jsonl");
}

/** A journal in a file, one line of JSON per entry, on disk before `append` returns. Only its owner may read it. */
export function journalFile(path: string): Journal {
  return {
    async append(entry) {
      try {
        await mkdir(dirname(path), { recursive: true });
        await appendLine(path, JSON.stringify(entry));
      } catch (error) {
        throw fileError("write", path, error, "Make room or give this user the file; then run the same command again.");
      }
    },
    async entries() {
      const text = (await textIfThere(path)) ?? "";
      const lines = text.split("\n");
      return lines.flatMap((line, index): JournalEntry[] => {
        if (line === "") return [];
        const entry = schema.safeParse(jsonIn(line)).data;
        if (entry !== undefined) return [entry];
        // A kill or a full disk may cut the last line off; anywhere else the file has been tampered with.
        if (index === lines.length - 1) return [];
        throw new TalosError("invalid-input", `${path}:${index + 1}: not an entry of the journal`, {
          hint: "Restore the file or delete it; it only helps to resume what was interrupted.",
        });
      });
    },
  };
}

async function appendLine(path: string, line: string): Promise<void> {
  const file = await open(path, "a+", 0o600);
  try {
    const isNew = (await file.stat()).size === 0;
    await dropTornLine(file);
    await file.appendFile(`${line}\n`);
    await file.sync();
    if (isNew) await syncFolder(dirname(path));
  } finally {
    await file.close();
  }
}

/** Longer than any entry. */
const longestLine = 4096;

/** What a full disk has left of an entry must not become the beginning of the next one. */
async function dropTornLine(file: FileHandle): Promise<void> {
  const { size } = await file.stat();
  const start = Math.max(0, size - longestLine);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(size - start), 0, size - start, start);
  const end = buffer.subarray(0, bytesRead).lastIndexOf("\n") + 1;
  if (end < bytesRead) await file.truncate(start + end);
}
