// SPDX-License-Identifier: Apache-2.0
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { TalosError } from "../../talos/errors.ts";
import { fileError } from "../../talos/file-error.ts";

/** Reads a text file of the user. Errors name it as the user wrote it. */
export async function readText(path: string, cwd: string): Promise<string> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(resolve(cwd, path));
  } catch (cause) {
    throw fileError("open", path, cause);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    const message = `${path}: found bytes that are not UTF-8`;
    throw new TalosError("invalid-input", message, { hint: "Save the file as UTF-8 text.", cause });
  }
}
