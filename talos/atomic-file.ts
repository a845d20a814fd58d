// SPDX-License-Identifier: Apache-2.0
import { randomBytes } from "node:crypto";
import { link, mkdir, open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileError } from "./file-error.ts";

export interface WriteOptions {
  /** @default 0o600, because most of what we write is a secret */
  readonly mode?: number;
  /** Fail with EEXIST rather than replace: the first writer wins. @default false */
  readonly exclusive?: boolean;
}

/**
 * Writes a whole file or nothing: a reader sees the old content or the new one, never a part, and a full disk leaves
 * the old file. Makes missing parent folders. Fails with a `TalosError`, but with the system's EEXIST where another was
 * first.
 */
export async function writeFileAtomically(
  path: string,
  content: string | Uint8Array,
  options: WriteOptions = {},
): Promise<void> {
  try {
    await makeFolder(dirname(path));
    await writeBeside(path, content, options);
  } catch (cause) {
    const { code, syscall } = cause as NodeJS.ErrnoException;
    if (code === "EEXIST" && syscall === "link") throw cause;
    throw fileError("write", path, cause);
  }
}

/** Node's own recursive mkdir never ends where a file system refuses with "no such file", as /proc does. */
async function makeFolder(folder: string, retry = true): Promise<void> {
  try {
    await mkdir(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // What is there may be a file; the write itself tells.
    if (code === "EEXIST" || code === "EISDIR") return;
    if (code !== "ENOENT" || !retry || dirname(folder) === folder) throw error;
    await makeFolder(dirname(folder));
    await makeFolder(folder, false);
  }
}

async function writeBeside(path: string, content: string | Uint8Array, options: WriteOptions): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString("hex")}.tmp`);
  try {
    const file = await open(temporary, "wx", options.mode ?? 0o600);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    if (options.exclusive) await link(temporary, path);
    else await rename(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
}
