// SPDX-License-Identifier: Apache-2.0
import { open, readFile, rename, rm, stat } from "node:fs/promises";
import type { ReadableStream } from "node:stream/web";
import { writeFileAtomically } from "../atomic-file.ts";
import { TalosError } from "../errors.ts";
import { request } from "./factory.ts";

export interface DownloadOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, total: number | undefined) => void;
}

const attempts = 3;

/**
 * Downloads into a file. A broken connection is taken up where it broke, now or by a later call, as long as the server
 * still has the same file: two halves of different builds would make an image that nobody checked.
 */
export async function download(url: string, part: string, options: DownloadOptions): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await downloadOnce(url, part, options);
      return;
    } catch (error) {
      const broken = TalosError.from(error);
      const final = attempt === attempts || (error instanceof TalosError && !broken.retryable);
      if (!final && !options.signal?.aborted) continue;
      if (error instanceof TalosError) throw error;
      throw new TalosError("unavailable", `${url}: the download broke off: ${broken.message}`, {
        hint: "Run the command again; it goes on where it stopped.",
        cause: error,
      });
    }
  }
}

/** Takes away what a download left. */
export async function removePart(part: string): Promise<void> {
  await Promise.all([part, tagFile(part)].map((file) => rm(file, { force: true })));
}

/** Gives what a download left another name: of several callers at once, one gets it. Nothing happens without a part. */
export async function movePart(from: string, to: string): Promise<void> {
  await renameIfThere(from, to);
  await renameIfThere(tagFile(from), tagFile(to));
}

async function renameIfThere(from: string, to: string): Promise<void> {
  await rename(from, to).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  });
}

async function downloadOnce(url: string, part: string, options: DownloadOptions): Promise<void> {
  const begun = await begunPart(part);
  const response = await request(url, {
    headers: begun === undefined ? {} : { range: `bytes=${begun.size}-`, "if-range": begun.tag },
    signal: options.signal ?? null,
  });
  // The part is whole already: the server has nothing after it.
  if (response.status === 416 && begun !== undefined) return;
  if (!response.ok || response.body === null) {
    throw new TalosError("not-found", `${url}: found HTTP status ${response.status}, expected an image`, {
      hint: "Check version, platform and architecture; a new schematic must be registered before its images exist.",
    });
  }
  const resumed = response.status === 206 && begun !== undefined;
  if (!resumed) await keepTag(part, response);
  const length = response.headers.get("content-length");
  const start = resumed ? begun.size : 0;
  const total = length === null ? undefined : start + Number(length);
  let done = start;
  // Written piece by piece: what came before a broken connection is kept for the next attempt.
  const file = await open(part, resumed ? "a" : "w");
  try {
    for await (const chunk of response.body as ReadableStream<Uint8Array>) {
      // Not `write`, which may take a part of it on a full disk and say nothing.
      await file.writeFile(chunk);
      done += chunk.length;
      options.onProgress?.(done, total);
    }
  } finally {
    await file.close();
  }
  if (total !== undefined && done !== total) {
    throw new TalosError("unavailable", `${url}: found ${done} bytes, expected ${total}`);
  }
}

/** Where the server's name for this very content is kept. */
function tagFile(part: string): string {
  return `${part}.etag`;
}

async function keepTag(part: string, response: Response): Promise<void> {
  const etag = response.headers.get("etag") ?? "";
  // A weak tag names the meaning, not the bytes.
  const tag = etag !== "" && !etag.startsWith("W/") ? etag : response.headers.get("last-modified");
  await removePart(part);
  if (tag !== null) await writeFileAtomically(tagFile(part), tag, { mode: 0o644 });
}

/** What an earlier attempt left, when it can be told whether the rest belongs to it. */
async function begunPart(part: string): Promise<{ readonly size: number; readonly tag: string } | undefined> {
  try {
    const [{ size }, tag] = await Promise.all([stat(part), readFile(tagFile(part), "utf8")]);
    return size === 0 ? undefined : { size, tag };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
