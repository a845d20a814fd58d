// SPDX-License-Identifier: Apache-2.0
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { writeFileAtomically } from "../../talos/atomic-file.ts";
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

interface PatchText {
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

interface OutputFile {
  /** As the user wrote it. */
  readonly path: string;
  readonly content: string;
}

/** Writes private files, all of them or, when one is in the way, none. */
export async function writeOutputs(
  files: readonly OutputFile[],
  options: { readonly cwd: string; readonly force: boolean },
): Promise<void> {
  if (!options.force) {
    for (const { path } of files) {
      if (!existsSync(resolve(options.cwd, path))) continue;
      throw new TalosError("already-exists", `file ${JSON.stringify(path)} already exists, use --force to overwrite`);
    }
  }
  for (const { path, content } of files) await writeFileAtomically(resolve(options.cwd, path), content);
}
