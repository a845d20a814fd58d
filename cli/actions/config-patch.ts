// SPDX-License-Identifier: Apache-2.0
import { resolve } from "node:path";
import { writeFileAtomically } from "../../talos/atomic-file.ts";
import { applyPatches, parsePatch } from "../../talos/config/index.ts";
import type { CommandContext } from "../context.ts";
import { readPatches } from "./read-patches.ts";
import { readText } from "./read-text.ts";

export interface ConfigPatchOptions {
  readonly patch: readonly string[];
  readonly output?: string;
  readonly json: boolean;
}

export async function configPatch(file: string, options: ConfigPatchOptions, context: CommandContext): Promise<void> {
  const config = await readText(file, context.cwd);
  const patches = await readPatches(options.patch, context.cwd);
  const parsed = patches.map(({ name, text }) => parsePatch(text, name));
  const patched = applyPatches(config, parsed, file);
  if (options.output !== undefined && options.output !== "-") {
    await writeFileAtomically(resolve(context.cwd, options.output), patched);
    if (options.json) context.stdout.write(`${JSON.stringify({ file: options.output })}\n`);
    return;
  }
  // The empty line at the end is talosctl's.
  context.stdout.write(options.json ? `${JSON.stringify({ config: patched })}\n` : `${patched}\n`);
}
