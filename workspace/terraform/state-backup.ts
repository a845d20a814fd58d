// SPDX-License-Identifier: Apache-2.0
import { readdir, rm, statfs } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { writeFileAtomically } from "../../talos/atomic-file.ts";
import { TalosError } from "../../talos/errors.ts";

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
