// SPDX-License-Identifier: Apache-2.0
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import type { Environment } from "../../talos/environment/index.ts";
import { TalosError } from "../../talos/errors.ts";

const state = z.object({ version: z.number(), resources: z.array(z.unknown()).optional() });

/** The local Terraform state of an environment. Kept out of cdktf.out, which the CDK's command line deletes. */
export function stateFile(root: string, environment: string): string {
  return join(root, "state", `${environment}.tfstate`);
}

/**
 * How many resources the state holds; undefined when there is no state. An empty or broken file is refused: terraform
 * would take it as "nothing exists yet" and create everything a second time.
 */
export async function countResources(path: string): Promise<number | undefined> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  const parsed = state.safeParse(parseJson(text));
  if (!parsed.success) {
    throw new TalosError("failed-precondition", `${path} is ${text === "" ? "empty" : "not a whole Terraform state"}`, {
      hint: `Put a good copy back (terraform keeps the one before in ${path}.backup), then try again. Nothing was changed.`,
    });
  }
  return parsed.data.resources?.length ?? 0;
}

/** True when Terraform made what there is: its state holds something, or it is kept where only Terraform can look. */
export async function ownedByTerraform(root: string, environment: Environment): Promise<boolean> {
  if (environment.kind !== "simulated" || environment.backend.kind !== "local") return true;
  return ((await countResources(stateFile(root, environment.name))) ?? 0) > 0;
}

/** Two owners of one cluster would undo each other's work: what Terraform made is changed through it. */
export async function refuseOwnedByTerraform(root: string, environment: Environment): Promise<void> {
  if (!(await ownedByTerraform(root, environment))) return;
  throw new TalosError("failed-precondition", `${environment.name} belongs to Terraform`, {
    hint: `With terraform or tofu on the PATH, use: talosmith deploy ${environment.name} (or plan, destroy)`,
  });
}

/** Terraform writes its state with the mode that new files have; it is for the owner alone, so its folder is. */
export async function protectState(root: string): Promise<void> {
  await mkdir(join(root, "state"), { recursive: true, mode: 0o700 });
}

/** After a destroy the state says only that nothing is there; its folder goes with the last one. */
export async function removeState(path: string): Promise<void> {
  await rm(path, { force: true });
  await rm(`${path}.backup`, { force: true });
  if (existsSync(dirname(path)) && (await readdir(dirname(path))).length === 0) await rmdir(dirname(path));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
