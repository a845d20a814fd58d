// SPDX-License-Identifier: Apache-2.0
import type { Environment } from "../../model/index.ts";
import { planWithHelper } from "../../workspace/deploy.ts";
import type { HelperPolicy } from "../../workspace/rollout.ts";
import { type ApprovalFlags, approved } from "../ask.ts";
import type { CommandContext } from "../context.ts";

/**
 * Shows what would be done and asks, where a run would wipe a machine or take it out of the cluster; all else is not asked
 * about. After a no it ends the command with exit code 1.
 */
export async function mayTakeAway(
  root: string,
  environment: Environment,
  flags: ApprovalFlags,
  context: CommandContext,
  policy: HelperPolicy = {},
): Promise<boolean> {
  // Simulated machines hold nothing worth a question.
  if (flags.yes || environment.kind === "simulated") return true;
  const { steps } = await planWithHelper(root, environment, context, policy);
  if (!steps.some(({ destructive }) => destructive)) return true;
  for (const { sentence } of steps) context.stderr.write(`- ${sentence}\n`);
  const { name } = environment;
  if (await approved(`Machines of ${name} are wiped on the way. There is no way back.`, name, flags, context))
    return true;
  context.stderr.write("Nothing was changed.\n");
  context.exit(1);
  return false;
}
