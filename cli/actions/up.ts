// SPDX-License-Identifier: Apache-2.0
import { type ApprovalFlags, approved } from "../ask.ts";
import type { CommandContext } from "../context.ts";
import { deployWithHelper, destroyWithHelper, refuseProtected } from "../helper/helper-door.ts";
import { mayTakeAway } from "../helper/may-take-away.ts";
import { whatStays } from "../helper/what-stays.ts";
import { openEnvironment, openExistingEnvironment } from "../open-environment.ts";
import { withProgress } from "../output/progress.ts";
import { deployedSummary } from "../output/summary.ts";
import { clearAbandonedState } from "../terraform/abandoned-state.ts";
import { refuseOwnedByTerraform } from "../terraform/state-file.ts";

export async function up(
  name: string,
  { json, kubernetes, ...approval }: ApprovalFlags & { json: boolean; kubernetes: boolean },
  context: CommandContext,
): Promise<void> {
  const started = performance.now();
  const { root, environment } = openEnvironment(name, context);
  await clearAbandonedState(root, environment, context);
  await refuseOwnedByTerraform(root, environment);
  if (!(await mayTakeAway(root, environment, approval, context, { kubernetes }))) return;
  const { changed, ...deployed } = await withProgress(context, { json }, (events) =>
    deployWithHelper(root, environment, context, events, { kubernetes }),
  );
  if (json) return;
  if (!changed) context.stderr.write("Nothing to change.\n");
  const seconds = (performance.now() - started) / 1000;
  context.stdout.write(deployedSummary({ ...deployed, seconds, door: "talosmith alone" }, context.name));
}

export async function down(
  name: string,
  { json, ...flags }: ApprovalFlags & { json: boolean },
  context: CommandContext,
): Promise<void> {
  const { root, environment } = openExistingEnvironment(name, context);
  refuseProtected(environment);
  await clearAbandonedState(root, environment, context);
  await refuseOwnedByTerraform(root, environment);
  const question = `Destroy everything in ${name}? There is no way back.`;
  // Simulated machines hold nothing worth a question.
  const approval = { yes: flags.yes || environment.kind === "simulated" };
  if (!(await approved(question, name, approval, context))) {
    context.stderr.write("Nothing was changed.\n");
    context.exit(1);
    return;
  }
  await withProgress(context, { json }, (events) => destroyWithHelper(root, environment, context, events));
  context.stderr.write(`${name} is gone.\n${whatStays(root, environment)}`);
}
