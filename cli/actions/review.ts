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
import { listEnvironments } from "../../talos/environment/index.ts";
import { TalosError } from "../../talos/errors.ts";
import type { CommandContext } from "../context.ts";
import { projectRoot } from "../project-root.ts";
import { prepareStack } from "../terraform/prepare-stack.ts";

export async function review(
  subject: string,
  { failOn, json }: { failOn?: Level; json: boolean },
  context: CommandContext,
): Promise<void> {
  const found = reviewPlan(await planOf(subject, context));
  context.stdout.write(json ? `${JSON.stringify(jsonReview(found))}\n` : renderMarkdown(found));
  if (failOn !== undefined && reaches(found, failOn)) context.exit(2);
}

async function planOf(subject: string, context: CommandContext): Promise<Plan> {
  if (subject === "-") return parsePlan(await text(process.stdin), subject);
  const file = resolve(context.cwd, subject);
  if (existsSync(file) && statSync(file).isFile()) return parsePlan(await readFile(file, "utf8"), subject);
  return planOfEnvironment(subject, context);
}

async function planOfEnvironment(name: string, context: CommandContext): Promise<Plan> {
  const root = projectRoot(context.cwd, context.env);
  const environments = listEnvironments(root);
  if (!environments.includes(name))
    throw new TalosError("not-found", `${name}: there is no such file, and no environment of this name`, {
      hint: `Give what \`terraform show -json\` wrote, or one of the environments: ${environments.join(", ")}.`,
    });
  const stack = join(await prepareStack(root, name, context), "cdk.tf.json");
  return planOfStack(await readFile(stack, "utf8"), stack);
}

/** Without the values of the plan, which may hold secrets. */
function jsonReview({ clusters, ...rest }: Review): object {
  const told = clusters.map(({ address, name, steps, configChanges }) => ({ address, name, steps, configChanges }));
  return { v: 1, ...rest, clusters: told };
}
