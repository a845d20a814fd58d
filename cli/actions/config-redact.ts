// SPDX-License-Identifier: Apache-2.0
import { MachineConfig, redactConfig } from "../../talos/config/index.ts";
import type { CommandContext } from "../context.ts";
import { readText } from "./read-text.ts";

export async function configRedact(
  file: string,
  options: { readonly json: boolean },
  context: CommandContext,
): Promise<void> {
  const config = redactConfig(new MachineConfig(await readText(file, context.cwd), file));
  context.stdout.write(options.json ? `${JSON.stringify({ config })}\n` : config);
}
