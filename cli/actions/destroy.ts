// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../../talos/errors.ts";
import { forgetDeployment, removeEmptyState } from "../../workspace/change.ts";
import { refuseProtected, whatStays } from "../../workspace/deploy.ts";
import type { Manager } from "../../workspace/manager.ts";
import { type PlannedChange, planText } from "../../workspace/planned-change.ts";
import { clearAbandonedState, mendState } from "../../workspace/terraform/abandoned-state.ts";
import { readState, stateFile } from "../../workspace/terraform/state-file.ts";
import { removeFromUserKubeconfig } from "../../workspace/user-kubeconfig.ts";
import { openWorkspace, type Workspace } from "../../workspace/workspace.ts";
import { type ApprovalFlags, approvedFor } from "../ask.ts";
import type { CommandContext } from "../context.ts";
import { styleOf } from "../output/colors.ts";
import { type ProgressOptions, withProgress } from "../output/progress.ts";
import { report } from "../output/report.ts";
import { openExistingManager, planned, printWarnings } from "./change.ts";
import { endDryRun, printPlan } from "./plan.ts";

interface DestroyFlags extends ApprovalFlags, ProgressOptions {
  readonly dryRun: boolean;
}

export async function destroy(name: string, flags: DestroyFlags, context: CommandContext): Promise<void> {
  const workspace = openWorkspace(name, context, { warn: true, existing: true });
  const { root, environment } = workspace;
  refuseProtected(environment);
  await (flags.dryRun ? clearAbandonedState(workspace) : mendState(workspace));
  // A state that cannot be read may own what there is: it is refused before anything goes, the file itself included.
  if (environment.backend.kind === "local") await readState(stateFile(root, name));
  if (environment.kind === "simulated" && (await workspace.secrets.find()) === undefined)
    return forgetSimulated(workspace, flags, context);
  const manager = await openExistingManager(workspace, context, { stateless: true });
  const kubeconfig = await workspace.clientFiles.kubeconfig();
  const outcome = await planned(workspace, manager, { intent: "destroy" }, context, (change) =>
    flags.dryRun && !change.isEmpty
      ? showOnly(change, workspace, manager, flags, context)
      : destroyPlanned(change, workspace, flags, context),
  );
  if (outcome === "declined") return;
  if (flags.dryRun) return reportEnd(workspace, outcome, flags, context);
  await removeEmptyState(workspace);
  if (kubeconfig !== undefined) await forgetContext(kubeconfig, context);
  // Files that an earlier run has left are no cluster.
  reportEnd(workspace, manager.isNew ? "not-deployed" : outcome, flags, context);
  if (!flags.json) context.stderr.write(whatStays(workspace));
}

type Outcome = "destroyed" | "not-deployed";

/** The last line, of which the progress for programs has one, too. */
function reportEnd(
  { name }: Workspace,
  type: Outcome,
  { json = false }: DestroyFlags,
  context: CommandContext,
  more = "",
): void {
  const words = type === "destroyed" ? `${name} is destroyed.${more}` : `${name} is not deployed: nothing to destroy.`;
  report(context, { json }, { at: context.clock.now().toISOString(), type, message: words }, words);
}

/** As kind and k3d do. The cluster is gone all the same where a file of the user cannot be read or written. */
async function forgetContext(kubeconfig: string, context: CommandContext): Promise<void> {
  try {
    for (const file of await removeFromUserKubeconfig(kubeconfig, context))
      context.stderr.write(`Removed the cluster from ${file}.\n`);
  } catch (error) {
    context.stderr.write(`Warning: the cluster is still in your kubeconfig: ${TalosError.from(error).message}\n`);
  }
}

async function showOnly(
  change: PlannedChange,
  workspace: Workspace,
  manager: Manager,
  { json = false }: DestroyFlags,
  context: CommandContext,
): Promise<"declined"> {
  printWarnings(change, context);
  printPlan(change, { workspace, manager, unhealthy: [], json }, context);
  endDryRun(`destroy ${workspace.name}`, context);
  return "declined";
}

async function destroyPlanned(
  change: PlannedChange,
  { environment, name }: Workspace,
  { json, yes }: DestroyFlags,
  context: CommandContext,
): Promise<Outcome | "declined"> {
  if (change.isEmpty) return "not-deployed";
  printWarnings(change, context);
  const text = planText(change, styleOf(context.stderr, context));
  if (!json && text !== "") context.stderr.write(`\n${text}\n`);
  const question = `Destroy everything in ${name}? This cannot be undone.`;
  if (!(await approvedFor(environment, question, { yes }, context))) return "declined";
  await withProgress(context, { json, title: name }, (events) => change.apply(events));
  return "destroyed";
}

/** Without secrets the machines cannot be reset; simulated ones can be removed all the same. */
async function forgetSimulated(workspace: Workspace, flags: DestroyFlags, context: CommandContext): Promise<void> {
  const outcome = (await workspace.machines.has()) ? "destroyed" : "not-deployed";
  if (flags.dryRun && outcome === "destroyed") {
    const message = `${workspace.name} has no secrets: its machines would be removed without a reset.`;
    report(
      context,
      { json: flags.json === true },
      { at: context.clock.now().toISOString(), type: "planned", message },
      message,
    );
    return endDryRun(`destroy ${workspace.name}`, context);
  }
  if (flags.dryRun) return reportEnd(workspace, outcome, flags, context);
  await workspace.machines.remove();
  await workspace.clientFiles.remove();
  await forgetDeployment(workspace);
  reportEnd(workspace, outcome, flags, context, " It had no secrets, so its machines were removed without a reset.");
}
