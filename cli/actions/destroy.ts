// SPDX-License-Identifier: Apache-2.0
import { removeEmptyState } from "../../workspace/change.ts";
import { refuseProtected, whatStays } from "../../workspace/deploy.ts";
import { type Manager, managerOf } from "../../workspace/manager.ts";
import { type PlannedChange, planText } from "../../workspace/planned-change.ts";
import { clearAbandonedState } from "../../workspace/terraform/abandoned-state.ts";
import { ownedByTerraform, readState, stateFile } from "../../workspace/terraform/state-file.ts";
import { openWorkspace, type Workspace } from "../../workspace/workspace.ts";
import { type ApprovalFlags, approvedFor } from "../ask.ts";
import type { CommandContext } from "../context.ts";
import { type ProgressOptions, withProgress } from "../output/progress.ts";
import { openManager, planned, printWarnings, style } from "./change.ts";

type DestroyFlags = ApprovalFlags & ProgressOptions;

export async function destroy(name: string, flags: DestroyFlags, context: CommandContext): Promise<void> {
  const workspace = openWorkspace(name, context, { warn: true, existing: true });
  const { root, environment } = workspace;
  refuseProtected(environment);
  await clearAbandonedState(workspace);
  // A state that cannot be read may own what there is: it is refused before anything goes, the file itself included.
  if (environment.backend.kind === "local") await readState(stateFile(root, name));
  if (environment.kind === "simulated" && (await workspace.secrets.find()) === undefined)
    return forgetSimulated(workspace);
  const manager = await destroyerOf(workspace, context);
  const done = await planned(workspace, manager, { intent: "destroy" }, context, (change) =>
    destroyPlanned(change, workspace, flags, context),
  );
  if (!done) return;
  await removeEmptyState(workspace);
  context.stderr.write(`${name} is destroyed.\n${whatStays(workspace)}`);
}

/** What is left of a cluster that was never begun needs no Terraform, unless only Terraform can know of it. */
async function destroyerOf(workspace: Workspace, context: CommandContext): Promise<Manager> {
  if ((await ownedByTerraform(workspace)) || (await workspace.machines.has()))
    return openManager(workspace, {}, context);
  return managerOf(workspace, { withoutTerraform: true });
}

/** False when it was declined. */
async function destroyPlanned(
  change: PlannedChange,
  { environment, name }: Workspace,
  { json, yes }: DestroyFlags,
  context: CommandContext,
): Promise<boolean> {
  if (change.isEmpty) return true;
  printWarnings(change, context);
  if (!json) context.stderr.write(`\n${planText(change, style)}\n`);
  const question = `Destroy everything in ${name}? This cannot be undone.`;
  if (!(await approvedFor(environment, question, { yes }, context))) return false;
  await withProgress(context, { json, title: name }, (events) => change.apply(events));
  return true;
}

/** Without secrets the machines cannot be reset; simulated ones can be removed all the same. */
async function forgetSimulated(workspace: Workspace): Promise<void> {
  await workspace.machines.remove();
  await workspace.clientFiles.remove();
  await removeEmptyState(workspace);
  const message = `${workspace.name} is destroyed. It had no secrets, so its machines were removed without a reset.\n`;
  workspace.context.stderr.write(message);
}
