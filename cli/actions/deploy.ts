// SPDX-License-Identifier: Apache-2.0
import { mendState } from "../../workspace/terraform/abandoned-state.ts";
import { mergeIntoUserKubeconfig } from "../../workspace/user-kubeconfig.ts";
import { openWorkspace } from "../../workspace/workspace.ts";
import type { CommandContext } from "../context.ts";
import { type ChangeFlags, deployThrough, forRun, openManager, type RunFlags } from "./change.ts";

interface DeployFlags extends ChangeFlags, RunFlags {
  readonly mergeKubeconfig: boolean;
}

export async function deploy(name: string, flags: DeployFlags, context: CommandContext): Promise<void> {
  const started = performance.now();
  const workspace = forRun(openWorkspace(name, context, { warn: true }), flags);
  await mendState(workspace);
  const manager = await openManager(workspace, flags, context);
  if (!(await deployThrough({ workspace, manager, flags, context, started })) || !flags.mergeKubeconfig) return;
  const kubeconfig = await workspace.clientFiles.kubeconfig();
  if (kubeconfig === undefined) return;
  const merged = await mergeIntoUserKubeconfig(kubeconfig, context);
  context.stderr.write(`Context ${merged.context} is in ${merged.path} and is the current one.\n`);
}

/** `deploy --without-terraform`. */
export function up(name: string, flags: DeployFlags, context: CommandContext): Promise<void> {
  return deploy(name, { ...flags, withoutTerraform: true }, context);
}
