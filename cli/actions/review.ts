// SPDX-License-Identifier: Apache-2.0
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";
import { type Level, parsePlan, type Review, reaches, renderMarkdown, reviewPlan } from "../../review/index.ts";
import { TalosError } from "../../talos/errors.ts";
import type { CommandContext } from "../context.ts";

export async function review(
  file: string,
  { failOn, json }: { failOn?: Level; json: boolean },
  context: CommandContext,
): Promise<void> {
  const found = reviewPlan(parsePlan(await read(file, context.cwd), file));
  context.stdout.write(json ? `${JSON.stringify(jsonReview(found))}\n` : renderMarkdown(found));
  if (failOn !== undefined && reaches(found, failOn)) context.exit(2);
}

async function read(file: string, cwd: string): Promise<string> {
  if (file === "-") return text(process.stdin);
  try {
    return await readFile(resolve(cwd, file), "utf8");
  } catch (cause) {
    throw new TalosError("not-found", `${file}: ${(cause as Error).message}`, { cause });
  }
}

/** Without the values of the plan, which may hold secrets. */
function jsonReview({ clusters, ...rest }: Review): object {
  const told = clusters.map(({ address, name, steps, configChanges }) => ({ address, name, steps, configChanges }));
  return { v: 1, ...rest, clusters: told };
}
