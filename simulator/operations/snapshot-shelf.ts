// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../talos/process-folder.ts";
import type { World } from "../machine/world.ts";

/**
 * Uploaded snapshots as files, because a real cluster's may be larger than what a world should hold. The world names
 * them by their SHA-256.
 */
export class SnapshotShelf {
  #directory: string | undefined;
  readonly #ownsDirectory: boolean;

  /** Without a directory one is made at first need, and removed by `close`. */
  constructor(directory: string | undefined) {
    this.#directory = directory;
    this.#ownsDirectory = directory === undefined;
  }

  /** Stores an upload, piece by piece, and at once tells its name, before a sweep can come between. */
  async add(pieces: AsyncIterable<Uint8Array>, stored: (name: string) => void): Promise<void> {
    const hash = createHash("sha256");
    const arriving = join(this.#folder(), `.${process.pid}-${performance.now()}`);
    const file = openSync(arriving, "wx", 0o600);
    try {
      for await (const piece of pieces) {
        hash.update(piece);
        writeSync(file, piece);
      }
      const name = hash.digest("hex");
      renameSync(arriving, this.#path(name));
      stored(name);
    } catch (error) {
      rmSync(arriving, { force: true });
      throw error;
    } finally {
      closeSync(file);
    }
  }

  has(name: string): boolean {
    return existsSync(this.#path(name));
  }

  size(name: string): number {
    return statSync(this.#path(name)).size;
  }

  /** Lends the open file for as long as something is read from it. */
  *stream<T>(name: string, work: (file: number) => Iterable<T>): Iterable<T> {
    const file = openSync(this.#path(name), "r");
    try {
      yield* work(file);
    } finally {
      closeSync(file);
    }
  }

  /** Lends the open file. */
  use<T>(name: string, work: (file: number) => T): T {
    const file = openSync(this.#path(name), "r");
    try {
      return work(file);
    } finally {
      closeSync(file);
    }
  }

  /** Throws away what nothing in the world names any more. */
  sweep(world: World): void {
    if (this.#directory === undefined || !existsSync(this.#directory)) return;
    const named = new Set([
      ...Object.values(world.machines).map(({ disk }) => disk.recovery),
      ...Object.values(world.clusters).map(({ restored }) => restored?.snapshot),
    ]);
    for (const file of readdirSync(this.#directory)) {
      if (!file.startsWith(".") && !named.has(file)) rmSync(join(this.#directory, file), { force: true });
    }
  }

  close(): void {
    if (this.#ownsDirectory && this.#directory !== undefined) rmSync(this.#directory, { recursive: true, force: true });
  }

  #path(name: string): string {
    return join(this.#folder(), name);
  }

  #folder(): string {
    this.#directory ??= temporaryFolder("snapshots");
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    return this.#directory;
  }
}
