// SPDX-License-Identifier: Apache-2.0
import { basename } from "node:path";
import { awaitHealthy } from "../../engine/index.ts";
import { deployWithoutTerraform } from "../../workspace/deploy.ts";
import { clearAbandonedState } from "../../workspace/terraform/abandoned-state.ts";
import { findTerraform } from "../../workspace/terraform/find-terraform.ts";
import { refuseOwnedByTerraform } from "../../workspace/terraform/state-file.ts";
import { openWorkspace } from "../../workspace/workspace.ts";
import type { ApprovalFlags } from "../ask.ts";
import type { CommandContext } from "../context.ts";
import { withProgress } from "../output/progress.ts";
import { deployedSummary } from "../output/summary.ts";
import { mayTakeAway } from "./approve-removal.ts";
import { deployWithTerraform, readDeployed } from "./deploy-with-terraform.ts";

export async function deploy(name: string, flags: ApprovalFlags, context: CommandContext): Promise<void> {
  const started = performance.now();
  const workspace = openWorkspace(name, context, { warn: true });
  const { environment } = workspace;
  await clearAbandonedState(workspace);
  const binary = findTerraform(context.env, environment.backend);
  const finish = (deployed: Parameters<typeof deployedSummary>[0], changed: boolean) => {
    const nothing = `Nothing to change${deployed.unseen === undefined ? "" : " on the machines that answer"}.\n`;
    if (!changed) context.stderr.write(nothing);
    context.stdout.write(deployedSummary(deployed, context.name));
  };
  const seconds = () => (performance.now() - started) / 1000;

  if (binary === undefined) {
    await refuseOwnedByTerraform(workspace);
    if (!(await mayTakeAway(workspace, flags, context))) return;
    context.stderr.write("Neither terraform nor tofu is on the PATH: talosmith does the job alone.\n");
    const { changed, ...deployed } = await withProgress(context, {}, (events) =>
      deployWithoutTerraform(workspace, events),
    );
    finish({ ...deployed, seconds: seconds(), runner: "talosmith alone" }, changed);
    return;
  }
  context.stderr.write(`Deploying ${name} through ${basename(binary)}.\n`);
  const options = { workspace, binary, approval: flags, context };
  const { did, unseen } = await deployWithTerraform(options);
  if (did === "declined") {
    context.stderr.write("Nothing was changed.\n");
    context.exit(1);
    return;
  }
  // What Terraform compares says nothing of health, and after a change the engine has waited for it.
  // The health of the cluster that workers join is its own deploy's matter.
  if (did === "unchanged" && unseen === undefined && environment.joins === undefined) {
    const deployed = await workspace.engineOptions();
    await withProgress(context, {}, (events) => awaitHealthy({ ...deployed, events }));
  }
  finish({ ...(await readDeployed(options)), unseen, seconds: seconds(), runner: basename(binary) }, did === "changed");
}
