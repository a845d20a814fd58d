// SPDX-License-Identifier: Apache-2.0
import { basename } from "node:path";
import { awaitHealthy } from "../../engine/index.ts";
import { given } from "../../talos/given.ts";
import { type Deployed, deployWithoutTerraform, planWithoutTerraform } from "../../workspace/deploy.ts";
import { forgetPreviousContract, saveContract } from "../../workspace/environment-file.ts";
import type { PolicyFlags } from "../../workspace/rollout.ts";
import { clearAbandonedState } from "../../workspace/terraform/abandoned-state.ts";
import { findTerraform } from "../../workspace/terraform/find-terraform.ts";
import { refuseOwnedByTerraform } from "../../workspace/terraform/state-file.ts";
import { openWorkspace, type Workspace } from "../../workspace/workspace.ts";
import { type ApprovalFlags, approvedFor } from "../ask.ts";
import type { CommandContext } from "../context.ts";
import { type ProgressOptions, withProgress } from "../output/progress.ts";
import { deployedSummary } from "../output/summary.ts";
import { deployWithTerraform, readDeployed } from "./deploy-with-terraform.ts";

export async function deploy(name: string, flags: ApprovalFlags, context: CommandContext): Promise<void> {
  const started = performance.now();
  const workspace = openWorkspace(name, context, { warn: true });
  const { environment } = workspace;
  await clearAbandonedState(workspace);
  const binary = findTerraform(context.env, environment.backend);
  if (binary === undefined) {
    await refuseOwnedByTerraform(workspace);
    if (!(await mayTakeAway(workspace, flags, context))) return;
    context.stderr.write("Neither terraform nor tofu is on the PATH: talosmith does the job alone.\n");
    return deployAlone(workspace, {}, started, context);
  }
  context.stderr.write(`Deploying ${name} through ${basename(binary)}.\n`);
  const options = { workspace, binary, approval: flags, context };
  const { did, unseen } = await deployWithTerraform(options);
  if (did === "declined") return;
  await keepContract(workspace, context);
  // What Terraform compares says nothing of health, and after a change the engine has waited for it.
  // The health of the cluster that workers join is its own deploy's matter.
  if (did === "unchanged" && unseen === undefined && environment.joins === undefined) {
    const deployed = await workspace.engineOptions();
    await withProgress(context, {}, (events) => awaitHealthy({ ...deployed, events }));
  }
  const deployed = { ...(await readDeployed(options)), unseen, runner: basename(binary) };
  printDeployed(deployed, did === "changed", started, context);
}

interface UpFlags extends ApprovalFlags {
  readonly json: boolean;
  readonly kubernetes: boolean;
}

/** The same, never through Terraform. */
export async function up(name: string, flags: UpFlags, context: CommandContext): Promise<void> {
  const started = performance.now();
  const workspace = openWorkspace(name, context, { warn: true });
  await clearAbandonedState(workspace);
  await refuseOwnedByTerraform(workspace);
  if (await mayTakeAway(workspace, flags, context)) await deployAlone(workspace, flags, started, context);
}

/** Deploys without Terraform and shows what is there then. `started`: when the command was. */
export async function deployAlone(
  workspace: Workspace,
  { json, kubernetes }: ProgressOptions & PolicyFlags,
  started: number,
  context: CommandContext,
): Promise<void> {
  const { changed, ...deployed } = await withProgress(context, { json }, (events) =>
    deployWithoutTerraform(workspace, events, { flags: given({ kubernetes }) }),
  );
  await keepContract(workspace, context);
  for (const file of await forgetPreviousContract(workspace.root, workspace.environment))
    context.stderr.write(`Removed previousContract from ${file}: the migration is deployed.\n`);
  if (!json) printDeployed({ ...deployed, runner: "talosmith alone" }, changed, started, context);
}

/** After a deploy the file owns the contract: a change of the Talos version, by hand too, leaves it as it is. */
async function keepContract({ root, environment }: Workspace, { stderr }: CommandContext): Promise<void> {
  for (const file of await saveContract(root, environment))
    stderr.write(`Pinned configContract: ${environment.cluster.configContract} in ${file}.\n`);
}

function printDeployed(
  deployed: Omit<Deployed, "seconds">,
  changed: boolean,
  started: number,
  { stdout, stderr, name }: CommandContext,
): void {
  const where = deployed.unseen === undefined ? "" : " on the machines that answer";
  if (!changed) stderr.write(`Nothing to change${where}.\n`);
  stdout.write(deployedSummary({ ...deployed, seconds: (performance.now() - started) / 1000 }, name));
}

/** Shows what would be done and asks, where a run would wipe a machine or take it out of the cluster; else it does not ask. */
async function mayTakeAway(
  workspace: Workspace,
  { kubernetes, yes }: ApprovalFlags & PolicyFlags,
  context: CommandContext,
): Promise<boolean> {
  const { environment, name } = workspace;
  if (yes || environment.kind === "simulated") return true;
  const { steps } = await planWithoutTerraform(workspace, given({ kubernetes }));
  if (!steps.some(({ destructive }) => destructive)) return true;
  for (const { sentence } of steps) context.stderr.write(`- ${sentence}\n`);
  return approvedFor(environment, `Machines of ${name} are wiped on the way. There is no way back.`, { yes }, context);
}
