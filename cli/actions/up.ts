// SPDX-License-Identifier: Apache-2.0
import { deployWithoutTerraform, destroyWithoutTerraform, refuseProtected, whatStays } from "../../workspace/deploy.ts";
import { clearAbandonedState } from "../../workspace/terraform/abandoned-state.ts";
import { refuseOwnedByTerraform } from "../../workspace/terraform/state-file.ts";
import { openWorkspace } from "../../workspace/workspace.ts";
import { type ApprovalFlags, approved } from "../ask.ts";
import type { CommandContext } from "../context.ts";
import { withProgress } from "../output/progress.ts";
import { deployedSummary } from "../output/summary.ts";
import { mayTakeAway } from "./approve-removal.ts";

export async function up(
  name: string,
  { json, kubernetes, ...approval }: ApprovalFlags & { json: boolean; kubernetes: boolean },
  context: CommandContext,
): Promise<void> {
  const started = performance.now();
  const workspace = openWorkspace(name, context, { warn: true });
  await clearAbandonedState(workspace);
  await refuseOwnedByTerraform(workspace);
  if (!(await mayTakeAway(workspace, approval, context, { kubernetes }))) return;
  const { changed, ...deployed } = await withProgress(context, { json }, (events) =>
    deployWithoutTerraform(workspace, events, { flags: { kubernetes } }),
  );
  if (json) return;
  if (!changed) context.stderr.write("Nothing to change.\n");
  const seconds = (performance.now() - started) / 1000;
  context.stdout.write(deployedSummary({ ...deployed, seconds, runner: "talosmith alone" }, context.name));
}

export async function down(
  name: string,
  { json, ...flags }: ApprovalFlags & { json: boolean },
  context: CommandContext,
): Promise<void> {
  const workspace = openWorkspace(name, context, { warn: true, existing: true });
  const { environment } = workspace;
  refuseProtected(environment);
  await clearAbandonedState(workspace);
  await refuseOwnedByTerraform(workspace);
  const question = `Destroy everything in ${name}? There is no way back.`;
  // Simulated machines hold nothing worth a question.
  const approval = { yes: flags.yes || environment.kind === "simulated" };
  if (!(await approved(question, name, approval, context))) {
    context.stderr.write("Nothing was changed.\n");
    context.exit(1);
    return;
  }
  await withProgress(context, { json }, (events) => destroyWithoutTerraform(workspace, events));
  context.stderr.write(`${name} is gone.\n${whatStays(workspace)}`);
}
