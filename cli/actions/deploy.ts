// SPDX-License-Identifier: Apache-2.0
import { clearAbandonedState } from "../../workspace/terraform/abandoned-state.ts";
import { openWorkspace } from "../../workspace/workspace.ts";
import type { CommandContext } from "../context.ts";
import { type ChangeFlags, deployThrough, openManager } from "./change.ts";

export async function deploy(name: string, flags: ChangeFlags, context: CommandContext): Promise<void> {
  const started = performance.now();
  const workspace = openWorkspace(name, context, { warn: true });
  await clearAbandonedState(workspace);
  const manager = await openManager(workspace, flags, context);
  await deployThrough({ workspace, manager, flags, context, started });
}

/** `deploy --without-terraform`. */
export function up(name: string, flags: ChangeFlags, context: CommandContext): Promise<void> {
  return deploy(name, { ...flags, withoutTerraform: true }, context);
}
