// SPDX-License-Identifier: Apache-2.0
import { machinesOf } from "../../model/index.ts";
import { findingLine } from "../../review/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { keepContract, withPlannedChange } from "../../workspace/change.ts";
import { deployedDirectly } from "../../workspace/deploy.ts";
import {
  existingManagerName,
  type Manager,
  type ManagerFlags,
  managedLine,
  managerLine,
  managerName,
  managerOf,
} from "../../workspace/manager.ts";
import {
  type Applied,
  type ChangeOptions,
  isDangerous,
  noticeOf,
  type PlannedChange,
  planText,
} from "../../workspace/planned-change.ts";
import { deployedByTerraform } from "../../workspace/terraform/stack-outputs.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import { type ApprovalFlags, approved } from "../ask.ts";
import type { CommandContext } from "../context.ts";
import { colorsOf, styleOf } from "../output/colors.ts";
import { type ProgressOptions, showStatus, withProgress } from "../output/progress.ts";
import { deployedSummary } from "../output/summary.ts";
import { wrapped } from "../output/wrap.ts";

export interface ChangeFlags extends ApprovalFlags, ProgressOptions, ManagerFlags {}

/** What flags set for one run alone. */
export interface RunFlags {
  /** `--no-kubernetes`: only Talos and etcd. */
  readonly kubernetes: boolean;
}

export function forRun(workspace: Workspace, { kubernetes }: RunFlags): Workspace {
  return kubernetes ? workspace : workspace.withoutKubernetes();
}

/** Finds what manages an environment, and says so: the one line that differs from one manager to the other. */
export async function openManager(
  workspace: Workspace,
  { withoutTerraform }: ManagerFlags,
  context: CommandContext,
): Promise<Manager> {
  const manager = await managerOf(workspace, { withoutTerraform });
  context.stderr.write(`${managerLine(workspace, manager, { withoutTerraform })}\n`);
  return manager;
}

/** The same where only an existing cluster can be changed: nothing new is begun with Terraform. */
export async function openExistingManager(
  workspace: Workspace,
  context: CommandContext,
  { stateless }: Pick<ManagerFlags, "stateless"> = {},
): Promise<Manager> {
  const manager = await managerOf(workspace, { existing: true, stateless });
  if (!manager.isNew) context.stderr.write(`${managerLine(workspace, manager)}\n`);
  return manager;
}

/** The same line for work that goes past the manager, which need not be here. Returns its name. */
export async function showManager(
  workspace: Workspace,
  { json }: ProgressOptions,
  context: CommandContext,
): Promise<string> {
  const name = await existingManagerName(workspace);
  if (!json) context.stderr.write(`${managedLine(workspace, name)}\n`);
  return name;
}

/** Plans, and shows on a terminal that it does. */
export async function planned<T>(
  workspace: Workspace,
  manager: Manager,
  options: ChangeOptions,
  context: CommandContext,
  work: (change: PlannedChange) => Promise<T>,
): Promise<T> {
  const status = showStatus(context, `Planning ${workspace.name}`);
  try {
    return await withPlannedChange(workspace, manager, { ...options, waits: status.waits }, (change) => {
      status.end();
      return work(change);
    });
  } finally {
    status.end();
  }
}

interface DeployRun {
  readonly workspace: Workspace;
  readonly manager: Manager;
  readonly flags: ChangeFlags;
  readonly context: CommandContext;
  /** When the command was started, by `performance.now()`. */
  readonly started: number;
}

/** Brings an environment to what its file says: plans, shows, asks, applies, and shows what is there then. False when declined. */
export async function deployThrough(run: DeployRun): Promise<boolean> {
  const { workspace, manager, flags, context } = run;
  const applied = await planned(workspace, manager, { intent: "deploy" }, context, (change) =>
    applyPlanned(change, run),
  );
  if (applied === undefined) return false;
  for (const line of await keepContract(workspace, manager)) context.stderr.write(`${line}\n`);
  if (!flags.json) await printDeployed(run, applied);
  return true;
}

/** Shows a plan, asks, saves the files that it was made of, and applies it. Undefined when it was declined. */
export async function applyPlanned(change: PlannedChange, run: DeployRun): Promise<Applied | undefined> {
  const { workspace, flags, context } = run;
  const { name, environment } = workspace;
  showPlanned(change, workspace, flags, context);
  const answer = isDangerous(change) ? name : "yes";
  const approval = { yes: flags.yes || environment.kind === "simulated" || change.isEmpty };
  if (!(await approved(`Apply these changes to ${name}?`, answer, approval, context))) return undefined;
  await workspace.save();
  return withProgress(context, { json: flags.json, title: name }, (events) => change.apply(events));
}

/** The whole plan for people, whether they are asked or not; for programs what may hurt. */
function showPlanned(
  change: PlannedChange,
  workspace: Workspace,
  { json }: ChangeFlags,
  context: CommandContext,
): void {
  printWarnings(change, context);
  const style = styleOf(context.stderr, context);
  if (json) for (const finding of change.review.findings) context.stderr.write(`${findingLine(finding, style)}\n`);
  else if (!change.isEmpty) context.stderr.write(`\n${planText(change, style)}\n`);
  if (json && change.rolled !== undefined) context.stderr.write(`${change.rolled}\n`);
  const notice = noticeOf(workspace, change);
  if (notice !== undefined) context.stderr.write(`${notice}\n`);
}

/** Where no machine answers, nothing was compared. */
export function refuseUnseen({ isEmpty, unseen }: PlannedChange, { name, environment }: Workspace): void {
  const all = machinesOf(environment);
  if (!isEmpty || unseen === undefined || unseen.length < all.length) return;
  throw new TalosError("unavailable", `no machine of ${name} answers, so nothing could be compared`, {
    hint: `Look whether the machines run and can be reached from here: talosmith status ${name}`,
  });
}

export function printWarnings({ warnings }: PlannedChange, { stderr }: CommandContext): void {
  warnings.forEach((warning, index) => {
    // A blank line between two of which one has several.
    const isApart = index > 0 && `${warnings[index - 1]}${warning}`.includes("\n");
    stderr.write(`${isApart ? "\n" : ""}Warning: ${warning}\n`);
  });
}

async function printDeployed({ workspace, manager, context, started }: DeployRun, applied: Applied): Promise<void> {
  const { changed, unseen } = applied;
  const deployed =
    manager.kind === "terraform"
      ? await deployedByTerraform(workspace, manager.binary)
      : await deployedDirectly(workspace);
  const where = unseen === undefined ? "" : " on the machines that answer";
  if (!changed) context.stderr.write(`Nothing to change${where}.\n`);
  const seconds = (performance.now() - started) / 1000;
  const summary = { ...deployed, unseen, runner: managerName(manager), seconds };
  const text = deployedSummary(summary, context.name, colorsOf(context.stdout, context));
  context.stdout.write(wrapped(text, context.stdout.columns));
}
