// SPDX-License-Identifier: Apache-2.0

import { pruneBackups } from "../engine/backup/index.ts";
import { systemTiming, type Timing } from "../engine/index.ts";
import { type Environment, fileReader, listEnvironments } from "../model/index.ts";
import { TalosError } from "../talos/errors.ts";
import { openBackups, takeBackup } from "../workspace/backups.ts";
import type { WorkspaceContext } from "../workspace/context.ts";
import { deployWithoutTerraform } from "../workspace/deploy.ts";
import { runsWithoutTerraform } from "../workspace/machine-source.ts";
import { ownedByTerraform } from "../workspace/terraform/state-file.ts";
import { Workspace } from "../workspace/workspace.ts";
import { readConditions, writeConditions } from "./condition-file.ts";
import { environmentCache } from "./environment-cache.ts";
import { lookAt } from "./observe-cluster.ts";
import type { WatchedProject } from "./project.ts";

/** The project on disk, for the operator. `names`: only these; none means all that there are. */
export function openWatchedProject(root: string, names: readonly string[], context: WorkspaceContext): WatchedProject {
  const workspaceOf = (environment: Environment, signal: AbortSignal) =>
    new Workspace({ root, environment, context: { ...context, signal } });
  const open = clusterOpener(workspaceOf, systemTiming);
  return {
    environmentNames: () => (names.length > 0 ? names : listEnvironments(root)),
    load: environmentCache(fileReader(root)),
    async look(environment, signal) {
      await workspaceOf(environment, signal).clientFiles.fetch();
      const workspace = await open(environment, signal);
      const look = await lookAt(workspace);
      const obstacle = (await exchangeUnderWay(workspace)) ?? (await obstacleTo(workspace));
      return { ...look, ...(obstacle === undefined ? {} : { obstacle }) };
    },
    async repair(environment, review, events, signal) {
      await deployWithoutTerraform(workspaceOf(environment, signal), events, { review });
    },
    async backup(environment, onRetry, signal) {
      const backups = await openBackups(workspaceOf(environment, signal));
      const { id, bytes } = await takeBackup(backups, onRetry);
      const { store, cluster, section } = backups;
      const removed = await pruneBackups(store, cluster, section.keep, context.clock.now(), { signal });
      return { id, bytes, removed: removed.map((old) => old.id) };
    },
    readConditions: (name) => readConditions(root, name),
    writeConditions: (name, conditions) => writeConditions(root, name, conditions),
  };
}

/** What a remote state tells counts for so long: to fetch it takes an init. */
const stateLasts = 10 * 60_000;

/** Opens clusters; those that only a remote state knows of, not with every look. The time of day may be set meanwhile. */
export function clusterOpener(
  workspaceOf: (environment: Environment, signal: AbortSignal) => Workspace,
  timing: Pick<Timing, "elapsed">,
): (environment: Environment, signal: AbortSignal) => Promise<Workspace> {
  const known = new Map<string, { readonly of: Environment; readonly at: number; readonly workspace: Workspace }>();
  return async (environment, signal) => {
    const { name, kind, backend } = environment;
    const now = timing.elapsed();
    const last = known.get(name);
    if (last?.of === environment && now - last.at < stateLasts) return last.workspace.until(signal);
    const workspace = workspaceOf(environment, signal);
    await workspace.deployed();
    if (!runsWithoutTerraform(kind) && backend.kind !== "local")
      known.set(name, { of: environment, at: now, workspace });
    return workspace;
  };
}

/** Whoever began it takes the machines through it, pass by pass; a repair between two passes would cut somebody off. */
async function exchangeUnderWay(workspace: Workspace): Promise<string | undefined> {
  const { secrets } = await workspace.deployed();
  if (secrets.rotation === undefined) return undefined;
  return `its CAs are being exchanged; if nobody is at it any more: talosmith rotate-ca ${workspace.name} --dry-run=false`;
}

/** Two owners of one cluster would undo each other's work. */
async function obstacleTo(workspace: Workspace): Promise<string | undefined> {
  try {
    const owned = await ownedByTerraform(workspace);
    return owned ? `it belongs to Terraform: talosmith deploy ${workspace.name}` : undefined;
  } catch (error) {
    return TalosError.from(error).message;
  }
}
