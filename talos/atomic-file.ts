// SPDX-License-Identifier: Apache-2.0
import { randomBytes } from "node:crypto";
import { link, mkdir, open, readFile, readlink, realpath, rename, rm, rmdir } from "node:fs/promises";
import { basename, dirname, isAbsolute, join } from "node:path";
import { fileError } from "./file-error.ts";

export interface WriteOptions {
  /** @default 0o600, because most of what we write is a secret */
  readonly mode?: number;
  /** Fail with EEXIST rather than replace: the first writer wins. @default false */
  readonly exclusive?: boolean;
  /**
   * `refuse` for an exclusive write in a folder that other users write to, such as the system's temporary one: a link
   * that one of them has put there must not say where the file goes. @default follow
   */
  readonly links?: "follow" | "refuse";
}

/**
 * Writes a whole file or nothing: a reader sees the old content or the new one, never a part, and a full disk leaves
 * the old file. Makes missing parent folders. A symbolic link is kept: the file it names is written. The content and its
 * name are on disk when this returns. Fails with a `TalosError`, but with the system's EEXIST where another was first.
 */
export async function writeFileAtomically(
  path: string,
  content: string | Uint8Array,
  options: WriteOptions = {},
): Promise<void> {
  let target = path;
  try {
    if (options.links !== "refuse") target = await linkTarget(path);
    // A folder that a link leads to is not made: it may be on a volume that is not mounted.
    if (target === path) await makeFolder(dirname(path));
    await writeBeside(target, content, options);
  } catch (cause) {
    const { code, syscall } = cause as NodeJS.ErrnoException;
    if (code === "EEXIST" && syscall === "link") throw cause;
    const hint = target === path ? undefined : `It is a link to ${target}: that must be a file in an existing folder.`;
    throw fileError("write", path, cause, hint);
  }
}

/** The content of a file; undefined when there is none. */
export async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw fileError("open", path, cause);
  }
}

export async function textIfThere(path: string): Promise<string | undefined> {
  return (await readIfThere(path))?.toString("utf8");
}

/**
 * Makes the names in a folder durable: a new or renamed file is only certain to survive a power failure once its folder
 * is on disk, too. Where the system has no such call, or does not let this user open the folder, nothing can be done.
 */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r").catch(unless(["EISDIR", "EPERM", "EACCES"]));
  if (handle === undefined) return;
  try {
    await handle.sync().catch(unless(["EINVAL", "ENOTSUP", "EOPNOTSUPP"]));
  } finally {
    await handle.close();
  }
}

/** Removes a folder that holds nothing any more; one that is gone already is no error. */
export async function removeIfEmpty(folder: string): Promise<void> {
  await rmdir(folder).catch(unless(["ENOENT", "ENOTEMPTY"]));
}

function unless(codes: readonly string[]): (error: NodeJS.ErrnoException) => undefined {
  return (error) => {
    if (!codes.includes(error.code ?? "")) throw error;
  };
}

/** The file that a path names through all its links, also when that file is still to be made. */
async function linkTarget(path: string): Promise<string> {
  const found = await realpath(path).catch(unless(["ENOENT"]));
  if (found !== undefined) return found;
  const named = await readlink(path).catch(unless(["ENOENT", "EINVAL"]));
  if (named === undefined) return path;
  // Not normalized: ".." after a folder that is a link itself leads elsewhere.
  return linkTarget(isAbsolute(named) ? named : `${dirname(path)}/${named}`);
}

/** Node's own recursive mkdir never ends where a file system refuses with "no such file", as /proc does. */
async function makeFolder(folder: string, retry = true): Promise<void> {
  try {
    await mkdir(folder);
    await syncFolder(dirname(folder));
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
    await syncFolder(dirname(path));
  } finally {
    await rm(temporary, { force: true });
  }
}
