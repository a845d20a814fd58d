// SPDX-License-Identifier: Apache-2.0
import { readText } from "./read-text.ts";

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
