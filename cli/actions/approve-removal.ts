// SPDX-License-Identifier: Apache-2.0
import { planWithoutTerraform } from "../../workspace/deploy.ts";
import type { PolicyFlags } from "../../workspace/rollout.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import { type ApprovalFlags, approved } from "../ask.ts";
import type { CommandContext } from "../context.ts";

/**
 * Shows what would be done and asks, where a run would wipe a machine or take it out of the cluster; all else is not asked
 * about. After a no it ends the command with exit code 1.
 */
export async function mayTakeAway(
  workspace: Workspace,
  approval: ApprovalFlags,
  context: CommandContext,
  flags: PolicyFlags = {},
): Promise<boolean> {
  // Simulated machines hold nothing worth a question.
  if (approval.yes || workspace.environment.kind === "simulated") return true;
  const { steps } = await planWithoutTerraform(workspace, flags);
  if (!steps.some(({ destructive }) => destructive)) return true;
  for (const { sentence } of steps) context.stderr.write(`- ${sentence}\n`);
  const { name } = workspace;
  if (await approved(`Machines of ${name} are wiped on the way. There is no way back.`, name, approval, context))
    return true;
  context.stderr.write("Nothing was changed.\n");
  context.exit(1);
  return false;
}
