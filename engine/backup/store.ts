// SPDX-License-Identifier: Apache-2.0
import type { ScratchFile } from "./scratch-file.ts";

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
  /** Takes away what runs that were killed have left half. Nobody ever saw it. */
  sweep(now: Date, signal?: AbortSignal): Promise<void>;
}
