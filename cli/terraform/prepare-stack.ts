// SPDX-License-Identifier: Apache-2.0
import { existsSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { synthesize } from "../../constructs/index.ts";
import { installProvider } from "../../provider/package.ts";
import { restoreLock } from "./committed-lock.ts";

/** Where the stock CDK commands put a stack, too: one directory, one state, whichever door is used. */
export function stackDirectory(root: string, environment: string): string {
  return join(root, "cdktf.out", "stacks", environment);
}

/** Synthesizes one environment and lays our provider beside it, so that `init` finds it without network or settings. */
export async function prepareStack(root: string, environment: string): Promise<string> {
  const { failures } = synthesize({
    projectRoot: root,
    outdir: join(root, "cdktf.out"),
    environments: [environment],
  });
  for (const { error } of failures) throw error;
  const directory = stackDirectory(root, environment);
  await restoreLock(root, environment, directory);
  await installProvider(directory);
  return directory;
}

/** Takes a stack's synthesized files away; with the last stack, the whole output folder. */
export async function removeStack(root: string, environment: string): Promise<void> {
  await rm(stackDirectory(root, environment), { recursive: true, force: true });
  const stacks = join(root, "cdktf.out", "stacks");
  if (existsSync(stacks) && (await readdir(stacks)).length === 0)
    await rm(join(root, "cdktf.out"), { recursive: true, force: true });
}
