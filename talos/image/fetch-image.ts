// SPDX-License-Identifier: Apache-2.0
import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { writeFileAtomically } from "../atomic-file.ts";
import { TalosError } from "../errors.ts";
import { download, movePart, removePart } from "./download.ts";

export interface FetchOptions {
  /** Where images are kept; one folder per factory, schematic and version is made in it. */
  readonly cache: string;
  /** Path of the file inside the cache, without the suffix of the packing. */
  readonly name: string;
  /** SHA-256 of the file as served, in hexadecimal; compared with a cached one too. @default not compared */
  readonly sha256?: string;
  /** Take off .xz or .zst. @default true */
  readonly unpack?: boolean;
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, total: number | undefined) => void;
}

export interface FetchedImage {
  readonly path: string;
  /** Of the file as it now lies there. */
  readonly sha256: string;
  /** Whether it was there already. */
  readonly cached: boolean;
}

/**
 * Downloads an image, checks it, unpacks it and keeps it: the next call finds it there. A broken connection is taken
 * up where it broke. Nothing half-done ever stands under the final name.
 */
export async function fetchImage(url: string, options: FetchOptions): Promise<FetchedImage> {
  const packing = options.unpack === false ? undefined : /\.(xz|zst)$/.exec(url)?.[1];
  const path = join(options.cache, options.name);
  const known = await cachedImage(path, options.sha256);
  if (known !== undefined) return known;
  await mkdir(dirname(path), { recursive: true });
  const part = await downloadAlone(url, path, options);
  try {
    const served = await checkDownload(part, url, options.sha256);
    const finished = packing === undefined ? part : await unpack(part, packing, options.signal);
    const sha256 = packing === undefined ? served : await hashOf(finished);
    await rename(finished, path);
    await writeFileAtomically(`${path}.sha256`, `${sha256}\n${served}\n`, { mode: 0o644 });
    return { path, sha256, cached: false };
  } finally {
    await removePart(part);
  }
}

/** Into a file that no other download writes to. What was downloaded before an error is left for the next call. */
async function downloadAlone(url: string, path: string, options: FetchOptions): Promise<string> {
  const part = `${path}.${randomBytes(6).toString("hex")}.part`;
  await movePart(`${path}.part`, part);
  try {
    await download(url, part, options);
    return part;
  } catch (error) {
    await movePart(part, `${path}.part`);
    throw error;
  }
}

/** `wanted`: SHA-256 of the file as it was served; one that was unpacked is remembered with it. */
async function cachedImage(path: string, wanted: string | undefined): Promise<FetchedImage | undefined> {
  try {
    const [sha256 = "", served] = (await readFile(`${path}.sha256`, "utf8")).split("\n");
    if (wanted !== undefined && wanted.toLowerCase() !== served) return undefined;
    // A file that was changed or cut since is fetched again.
    return (await hashOf(path)) === sha256 ? { path, sha256, cached: true } : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Returns the SHA-256 of the file as it was served. */
async function checkDownload(part: string, url: string, expected: string | undefined): Promise<string> {
  const found = await hashOf(part);
  if (expected === undefined || found === expected.toLowerCase()) return found;
  throw new TalosError("invalid-input", `${url}: found SHA-256 ${found}, expected ${expected.toLowerCase()}`, {
    hint: "The file was changed on its way or at its source; do not use it.",
  });
}

const programs: Readonly<Record<string, string>> = { xz: "xz", zst: "zstd" };

/** Both formats carry checksums, so that unpacking also verifies. */
async function unpack(part: string, packing: string, signal: AbortSignal | undefined): Promise<string> {
  const program = programs[packing] ?? packing;
  const target = `${part}.unpacked`;
  const child = spawn(program, ["-d", "-c", "-q"], { stdio: ["pipe", "pipe", "pipe"], signal });
  let message = "";
  child.stderr.on("data", (chunk: Buffer) => {
    message += chunk.toString();
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  // Its own input error (EPIPE) only repeats what the exit code says.
  const fed = pipeline(createReadStream(part), child.stdin).catch(() => undefined);
  const written = pipeline(child.stdout, createWriteStream(target));
  try {
    const [code] = await Promise.all([ended, written, fed]);
    if (code === 0) return target;
    throw new TalosError("invalid-input", `${part}: ${program} cannot unpack it: ${message.trim().split("\n")[0]}`, {
      hint: "The download is damaged; run the command again.",
    });
  } catch (cause) {
    await rm(target, { force: true });
    if (cause instanceof TalosError) throw cause;
    const missing = (cause as NodeJS.ErrnoException).code === "ENOENT";
    if (!missing) throw TalosError.from(cause);
    throw new TalosError("unavailable", `the program ${program} was not found`, {
      hint: `Install ${program}, or keep the image packed with --no-unpack.`,
      cause,
    });
  }
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}
