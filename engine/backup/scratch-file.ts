// SPDX-License-Identifier: Apache-2.0
import { randomBytes } from "node:crypto";
import { type FileHandle, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TalosError } from "../../talos/errors.ts";
import { fileError } from "../../talos/file-error.ts";
import { withTemporaryFolder } from "../../talos/process-folder.ts";

const pieceSize = 256 * 1024;

/** A file under way to a store, open for writing and reading, for its owner alone. */
export class ScratchFile {
  readonly handle: FileHandle;
  /** Undefined when it has no name any more: it ends with the process, however that ends. */
  readonly path: string | undefined;

  private constructor(handle: FileHandle, path?: string) {
    this.handle = handle;
    this.path = path;
  }

  /** In this folder under a hidden name, to be renamed when it is whole. */
  static async in(folder: string): Promise<ScratchFile> {
    const path = join(folder, `${partPrefix}${randomBytes(6).toString("hex")}`);
    return new ScratchFile(await open(path, "wx+", 0o600), path);
  }

  /** In the system's temporary folder, without a name: etcd holds secrets, and a killed process cleans up nothing. */
  static nameless(): Promise<ScratchFile> {
    return withTemporaryFolder(
      "snapshot",
      async (folder) => new ScratchFile(await open(join(folder, "snapshot"), "wx+", 0o600)),
    );
  }

  async receive(chunks: AsyncIterable<Uint8Array>, see: (chunk: Uint8Array) => void): Promise<void> {
    try {
      for await (const piece of joined(chunks, see)) await this.handle.writeFile(piece);
      await this.handle.sync();
    } catch (error) {
      throw diskError(error, "write", this.path ?? tmpdir());
    }
  }

  /** In pieces of this length, from the beginning. A piece is valid until the next one is asked for. */
  async *read(length: number): AsyncIterable<Buffer> {
    const buffer = Buffer.alloc(length);
    for (let position = 0; ; ) {
      const { bytesRead } = await this.handle.read(buffer, 0, length, position);
      if (bytesRead === 0) return;
      position += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }

  /** Closes it and takes it away where it still has its hidden name. */
  async discard(): Promise<void> {
    await this.handle.close();
    if (this.path !== undefined) await rm(this.path, { force: true });
  }
}

/** How files begin that are not whole yet. */
export const partPrefix = ".part-";

/** Machines send a kilobyte at a time; the disk gets larger pieces. */
async function* joined(chunks: AsyncIterable<Uint8Array>, see: (chunk: Uint8Array) => void): AsyncIterable<Buffer> {
  let waiting: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    see(chunk);
    waiting.push(chunk);
    length += chunk.length;
    if (length < pieceSize) continue;
    yield Buffer.concat(waiting);
    waiting = [];
    length = 0;
  }
  yield Buffer.concat(waiting);
}

/** What the file system says, as one of our errors; others pass. */
export function diskError(error: unknown, action: "open" | "write", place: string): unknown {
  if (error instanceof TalosError || !(error instanceof Error) || !("code" in error)) return error;
  if (error.code === "ENOSPC" || error.code === "EDQUOT") {
    return new TalosError("failed-precondition", `no space left for a backup at ${place}`, {
      hint: "Make room there, or name another place. Nothing half was left.",
      cause: error,
    });
  }
  return fileError(action, place, error);
}

export interface StoredFile {
  readonly name: string;
  readonly bytes: number;
}

/** Where backups lie: flat files by name. A file appears whole or not at all. Every error is a TalosError. */
export interface BackupStore {
  /** For messages, such as `backups/lab` or `s3://bucket/prefix`. */
  readonly place: string;
  /** Opens a file to receive a snapshot into, where `add` can take it from best. */
  scratch(): Promise<ScratchFile>;
  /** Puts a received file into the store under a name that is not taken. */
  add(name: string, file: ScratchFile, signal?: AbortSignal): Promise<void>;
  addText(name: string, text: string, signal?: AbortSignal): Promise<void>;
  /** In the order of names. A place that does not exist yet is empty. */
  list(signal?: AbortSignal): Promise<readonly StoredFile[]>;
  /** In pieces as they come. */
  read(name: string, signal?: AbortSignal): AsyncIterable<Uint8Array>;
  /** A file that is not there is fine. */
  remove(name: string, signal?: AbortSignal): Promise<void>;
  /** Removes partial files of killed runs. They never had their final name. */
  sweep(now: Date, signal?: AbortSignal): Promise<void>;
}
