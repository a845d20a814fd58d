// SPDX-License-Identifier: Apache-2.0
import { checkHealth } from "../../engine/index.ts";
import { infrastructureChanges, type Style } from "../../review/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { given } from "../../talos/given.ts";
import { backupLine, backupStatus } from "../../workspace/backups.ts";
import { type Manager, type ManagerFlags, managerName } from "../../workspace/manager.ts";
import { noticeOf, type PlannedChange, planText } from "../../workspace/planned-change.ts";
import { clearAbandonedState } from "../../workspace/terraform/abandoned-state.ts";
import { openWorkspace, type Workspace } from "../../workspace/workspace.ts";
import type { CommandContext } from "../context.ts";
import { colorsOf, styleOf } from "../output/colors.ts";
import { contractLine } from "../output/contract-line.ts";
import { jsonLine } from "../output/table.ts";
import { wrapped } from "../output/wrap.ts";
import { forRun, openManager, planned, printWarnings, type RunFlags, refuseUnseen } from "./change.ts";
import { tellFirstContact } from "./synth.ts";

interface PlanFlags {
  /** Terraform's own text instead of ours. */
  readonly raw: boolean;
  readonly json: boolean;
}

export async function plan(
  name: string,
  flags: PlanFlags & RunFlags & ManagerFlags,
  context: CommandContext,
): Promise<void> {
  const workspace = forRun(openWorkspace(name, context, { warn: true }), flags);
  const { environment } = workspace;
  await clearAbandonedState(workspace);
  const manager = await openManager(workspace, flags, context);
  if (flags.raw && manager.kind === "talosmith")
    context.stderr.write("Without Terraform there is no raw plan: this is the plan of talosmith.\n");
  tellFirstContact(environment, context);
  context.stderr.write(`${contractLine(environment)}\n`);
  const backup = await backupStatus(workspace);
  if (backup !== undefined) context.stderr.write(`${backupLine(backup)}\n`);
  await showPlan(workspace, manager, flags, context);
}

/** Shows what a deploy would do. Exit code 2 when that is something. */
export async function showPlan(
  workspace: Workspace,
  manager: Manager,
  { raw, json }: PlanFlags,
  context: CommandContext,
): Promise<void> {
  const show = raw ? (text: string) => context.stdout.write(text) : undefined;
  const options = { intent: "deploy", raw: show, color: colorsOf(context.stdout, context).isColorSupported } as const;
  await planned(workspace, manager, options, context, async (change) => {
    const unhealthy = change.isEmpty && change.unseen === undefined ? await healthOf(workspace, context) : [];
    if (!raw) printWarnings(change, context);
    if (!raw && !json && change.warnings.length > 0) context.stderr.write("\n");
    for (const line of unhealthy) context.stderr.write(`Not healthy: ${line}\n`);
    refuseUnseen(change, workspace);
    if (json || !raw || manager.kind === "talosmith")
      printPlan(change, { workspace, manager, unhealthy, json }, context);
    const notice = noticeOf(workspace, change);
    if (notice !== undefined) context.stderr.write(`${notice}\n`);
    context.exit(change.isEmpty ? 0 : 2);
  });
}

interface PlanFacts {
  readonly workspace: Workspace;
  readonly manager: Manager;
  /** What does not work of a cluster that has all that was declared. */
  readonly unhealthy: readonly string[];
  readonly json: boolean;
}

/** A plan on stdout: its text, or for programs. */
export function printPlan(change: PlannedChange, facts: PlanFacts, context: CommandContext): void {
  const { workspace, manager, unhealthy, json } = facts;
  if (json) context.stdout.write(jsonLine(jsonPlan(change, workspace, manager, unhealthy)));
  else {
    const text = textOf(change, unhealthy.length > 0, styleOf(context.stdout, context));
    context.stdout.write(wrapped(text, context.stdout.columns));
  }
}

/** The last line of every dry run, with the command that does what was shown. */
export function endDryRun(command: string, context: CommandContext): void {
  context.stderr.write(`\nNothing was changed. To do it: talosmith ${command}\n`);
}

function textOf(change: PlannedChange, isUnhealthy: boolean, style: Style): string {
  if (!change.isEmpty) return planText(change, style) || "Outputs or settings change, and no resource does.\n";
  if (change.unseen !== undefined) return "Nothing to change on the machines that answer.\n";
  return isUnhealthy ? "Nothing to change, but the cluster is not healthy.\n" : "Nothing to change.\n";
}

/** Without the values of Terraform's plan, which may hold secrets. */
function jsonPlan(change: PlannedChange, { name }: Workspace, manager: Manager, unhealthy: readonly string[]): object {
  const { findings, clusters, resources } = change.review;
  return {
    v: 1,
    environment: name,
    managedBy: managerName(manager),
    changes: !change.isEmpty,
    findings,
    infrastructure: infrastructureChanges({ resources }).map(({ what, names }) => ({ what, names })),
    clusters: clusters.map(({ name: cluster, steps, configChanges }) => ({ name: cluster, steps, configChanges })),
    warnings: change.warnings,
    unhealthy,
    ...given({ rolled: change.rolled, unseen: change.unseen }),
  };
}

/** What is wrong with a cluster that has all that was declared: "nothing to change" says nothing of health. */
async function healthOf(workspace: Workspace, context: CommandContext): Promise<readonly string[]> {
  // The health of the cluster that workers join is its own plan's matter.
  if (workspace.environment.joins !== undefined) return [];
  try {
    const { desired, secrets } = await workspace.deployed();
    const { signal } = context;
    const { checks } = await checkHealth({ desired, secrets, policy: workspace.policy, signal, wait: false });
    return checks.flatMap(({ name, state, reason }) => (state === "failed" ? [`${name}: ${reason}`] : []));
  } catch (error) {
    if (context.signal.aborted) throw error;
    return [`the health of the cluster could not be checked: ${TalosError.from(error).message}`];
  }
}
