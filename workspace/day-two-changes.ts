// SPDX-License-Identifier: Apache-2.0
// What a deploy without Terraform does after the engine: add-ons and a backup, in the form of Terraform's changes.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { addonState, surplusAddons } from "../engine/addon/index.ts";
import { type Step, usesKubernetes } from "../engine/index.ts";
import { type Change, changeOf } from "../review/index.ts";
import { TalosError } from "../talos/errors.ts";
import { addonAccess, mayHaveAddons, readAddons } from "./addons.ts";
import { backupStatus } from "./backups.ts";
import type { Workspace } from "./workspace.ts";

interface DayTwoChanges {
  readonly changes: readonly Change[];
  readonly warnings: readonly string[];
  /** Whether a deploy takes a backup at its end. */
  readonly takesBackup: boolean;
}

interface DayTwoOptions {
  /** Of the engine. */
  readonly steps: readonly Step[];
  readonly clusterExists: boolean;
}

/** Throws where an add-on cannot be installed whatever the cluster is, such as without helm. */
export async function dayTwoChanges(
  workspace: Workspace,
  { steps, clusterExists }: DayTwoOptions,
): Promise<DayTwoChanges> {
  const addons = usesKubernetes(workspace.policy) ? await addonChanges(workspace, clusterExists) : none;
  const backup = await backupChange(workspace, steps);
  return {
    changes: [...addons.changes, ...backup.changes],
    warnings: [...addons.warnings, ...backup.warnings],
    takesBackup: backup.changes.length > 0,
  };
}

type Found = Pick<DayTwoChanges, "changes" | "warnings">;

const none: Found = { changes: [], warnings: [] };

async function addonChanges(workspace: Workspace, clusterExists: boolean): Promise<Found> {
  const addons = await readAddons(workspace);
  const create = addons.map(({ name }) => changeOf("talosmith_addon", name, "create", { name }));
  if (!clusterExists || !mayHaveAddons(addons, workspace)) return { changes: create, warnings: [] };
  const { kubeconfig } = workspace.clientFiles.paths;
  if (!existsSync(join(workspace.root, kubeconfig)))
    return {
      changes: [],
      warnings: addons.map(({ name }) => `Could not check add-on ${name}: there is no ${kubeconfig}`),
    };
  const access = addonAccess(workspace);
  try {
    const states = await Promise.all(addons.map(async (addon) => (await addonState(addon, access)).state));
    const changes = create.flatMap((change, index) => {
      const state = states[index];
      if (state === "up to date") return [];
      return state === "to install" ? change : { ...change, action: "update" as const, before: change.after };
    });
    const removed = await surplusAddons(addons, access);
    return {
      changes: [...changes, ...removed.map(({ name }) => changeOf("talosmith_addon", name, "delete", { name }))],
      warnings: [],
    };
  } catch (error) {
    return { changes: [], warnings: [`Could not check the add-ons: ${TalosError.from(error).message}`] };
  }
}

/** As the backup of a Terraform stack: one when there is none, and one after every upgrade. */
async function backupChange(workspace: Workspace, steps: readonly Step[]): Promise<Found> {
  const status = await backupStatus(workspace);
  if (status === undefined) return none;
  const upgrades = steps.some(({ kind }) => kind === "upgrade-talos" || kind === "upgrade-kubernetes");
  const isFirst = status.last === undefined;
  if (isFirst && status.unreadable)
    return { changes: [], warnings: [`Could not check the backups: ${status.problem}`] };
  if (!isFirst && !upgrades) return none;
  return { changes: [changeOf("talosmith_etcd_snapshot", "backup", isFirst ? "create" : "update", {})], warnings: [] };
}
