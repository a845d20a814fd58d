// SPDX-License-Identifier: Apache-2.0
import { redactConfig } from "../../talos/config/index.ts";
import type { CommandContext } from "../context.ts";
import { readText } from "./read-patches.ts";

export async function configRedact(file: string, context: CommandContext): Promise<void> {
  context.stdout.write(redactConfig(await readText(file, context.cwd), file));
}
