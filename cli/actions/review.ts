// SPDX-License-Identifier: Apache-2.0
import { existsSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import {
  type Level,
  parsePlan,
  planOfStack,
  type Review,
  reaches,
  renderMarkdown,
  reviewPlan,
} from "../../review/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { namesHint } from "../../talos/nearest-word.ts";
import { environmentsHere } from "../../workspace/project.ts";
import { prepareStack } from "../../workspace/terraform/prepare-stack.ts";
import { readState, stateFile } from "../../workspace/terraform/state-file.ts";
import { openWorkspace, type Workspace } from "../../workspace/workspace.ts";
import type { CommandContext } from "../context.ts";
import { jsonLine } from "../output/table.ts";
import { openManager, planned, printWarnings, refuseUnseen } from "./change.ts";
import { readText } from "./user-files.ts";

export async function review(
  subject: string,
  { failOn, json }: { failOn?: Level; json: boolean },
  context: CommandContext,
): Promise<void> {
  const found = await reviewOf(subject, context);
  context.stdout.write(json ? jsonLine(jsonReview(found)) : renderMarkdown(found));
  if (failOn !== undefined && reaches(found, failOn)) context.exit(2);
}

async function reviewOf(subject: string, context: CommandContext): Promise<Review> {
  if (subject === "-") return reviewPlan(parsePlan(await text(process.stdin), subject));
  const file = resolve(context.cwd, subject);
  const environments = environmentsHere(context);
  // A pipe counts as well; a folder may only have the name of an environment.
  if ((existsSync(file) && !statSync(file).isDirectory()) || environments.length === 0)
    return reviewPlan(parsePlan(await readText(subject, context.cwd), subject));
  if (environments.includes(subject)) return reviewEnvironment(subject, context);
  throw new TalosError("not-found", `${subject}: there is no such file, and no environment of this name`, {
    hint: `Give what \`terraform show -json\` wrote, or an environment. ${namesHint(subject, environments)}`,
  });
}

/**
 * Of an environment that is deployed, what differs; else what its first apply makes. A state that is kept elsewhere is not
 * asked for: a review needs no account.
 */
async function reviewEnvironment(name: string, context: CommandContext): Promise<Review> {
  const workspace = openWorkspace(name, context);
  if (workspace.environment.backend.kind === "local" && (await isDeployed(workspace))) {
    const manager = await openManager(workspace, {}, context);
    return planned(workspace, manager, { intent: "deploy" }, context, async (change) => {
      printWarnings(change, context);
      refuseUnseen(change, workspace);
      return change.review;
    });
  }
  const stack = join(await prepareStack(workspace.root, name, context), "cdk.tf.json");
  return reviewPlan(planOfStack(await readFile(stack, "utf8"), stack));
}

async function isDeployed(workspace: Workspace): Promise<boolean> {
  const state = await readState(stateFile(workspace.root, workspace.name));
  return (state?.resources ?? 0) !== 0 || (await workspace.machines.has());
}

/** Without the values of the plan, which may hold secrets. */
function jsonReview({ clusters, ...rest }: Review): object {
  const told = clusters.map(({ address, name, steps, configChanges }) => ({ address, name, steps, configChanges }));
  return { v: 1, ...rest, clusters: told };
}
