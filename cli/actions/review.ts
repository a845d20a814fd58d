// SPDX-License-Identifier: Apache-2.0
import { existsSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import {
  type Level,
  type Plan,
  parsePlan,
  planOfStack,
  type Review,
  reaches,
  renderMarkdown,
  reviewPlan,
} from "../../review/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { environmentsHere, projectRoot } from "../../workspace/project.ts";
import { prepareStack } from "../../workspace/terraform/prepare-stack.ts";
import type { CommandContext } from "../context.ts";
import { jsonLine } from "../output/table.ts";
import { readText } from "./user-files.ts";

export async function review(
  subject: string,
  { failOn, json }: { failOn?: Level; json: boolean },
  context: CommandContext,
): Promise<void> {
  const found = reviewPlan(await planOf(subject, context));
  context.stdout.write(json ? jsonLine(jsonReview(found)) : renderMarkdown(found));
  if (failOn !== undefined && reaches(found, failOn)) context.exit(2);
}

async function planOf(subject: string, context: CommandContext): Promise<Plan> {
  if (subject === "-") return parsePlan(await text(process.stdin), subject);
  const file = resolve(context.cwd, subject);
  const environments = environmentsHere(context);
  // A pipe counts as well; a folder may only have the name of an environment.
  if ((existsSync(file) && !statSync(file).isDirectory()) || environments.length === 0)
    return parsePlan(await readText(subject, context.cwd), subject);
  if (environments.includes(subject)) return planOfEnvironment(subject, context);
  throw new TalosError("not-found", `${subject}: there is no such file, and no environment of this name`, {
    hint: `Give what \`terraform show -json\` wrote, or one of the environments: ${environments.join(", ")}.`,
  });
}

async function planOfEnvironment(name: string, context: CommandContext): Promise<Plan> {
  const directory = await prepareStack(projectRoot(context.cwd, context.env), name, context);
  const stack = join(directory, "cdk.tf.json");
  return planOfStack(await readFile(stack, "utf8"), stack);
}

/** Without the values of the plan, which may hold secrets. */
function jsonReview({ clusters, ...rest }: Review): object {
  const told = clusters.map(({ address, name, steps, configChanges }) => ({ address, name, steps, configChanges }));
  return { v: 1, ...rest, clusters: told };
}
