// SPDX-License-Identifier: Apache-2.0
import { type Mode, validateConfig } from "../../talos/config/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { Contract } from "../../talos/version/index.ts";
import type { CommandContext } from "../context.ts";
import { readText } from "./read-text.ts";

export interface ConfigValidateOptions {
  readonly config: string;
  readonly mode: string;
  readonly talosVersion?: string;
  readonly strict: boolean;
  readonly json: boolean;
}

const modes: readonly Mode[] = ["metal", "cloud", "container"];

export async function configValidate(options: ConfigValidateOptions, context: CommandContext): Promise<void> {
  const { config: file, strict } = options;
  const mode = modes.find((known) => known === options.mode);
  if (mode === undefined) {
    throw new TalosError("invalid-input", `unknown runtime mode: ${JSON.stringify(options.mode)}`, {
      hint: `Choose from: ${modes.join(", ")}.`,
    });
  }
  const text = await readText(file, context.cwd);
  const contract = options.talosVersion === undefined ? {} : { contract: Contract.parse(options.talosVersion) };
  const { warnings, error } = validateConfig(text, file, { mode, strict, ...contract });
  if (options.json) {
    const result = { file, mode, valid: error === undefined, warnings, error: error ?? null };
    context.stdout.write(`${JSON.stringify(result)}\n`);
    if (error !== undefined) context.exit(1);
    return;
  }
  for (const warning of warnings) context.stderr.write(`WARNING: ${warning}\n`);
  if (error !== undefined) throw new TalosError("invalid-input", error);
  context.stdout.write(`${file} is valid for ${mode} mode\n`);
}
