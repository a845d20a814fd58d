// SPDX-License-Identifier: Apache-2.0
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { TalosError } from "../../talos/errors.ts";
import { fileError } from "../../talos/file-error.ts";

export interface PatchText {
  /** The file, or `patch 1` for one given in place. */
  readonly name: string;
  readonly text: string;
}

/** Reads patches as talosctl takes them: `@file`, the name of a file, or the patch itself. */
export async function readPatches(args: readonly string[], cwd: string): Promise<readonly PatchText[]> {
  return await Promise.all(
    args.map(async (arg, index) => {
      const inline = !arg.startsWith("@") && (/[\n ]/.test(arg) || /^[[{]/.test(arg));
      if (inline) return { name: `patch ${index + 1}`, text: arg };
      const name = arg.replace(/^@/, "");
      return { name, text: await readText(name, cwd) };
    }),
  );
}

/** Reads a text file of the user. */
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
