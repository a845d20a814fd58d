// SPDX-License-Identifier: Apache-2.0

import { pruneBackups } from "../engine/backup/index.ts";
import { systemTiming, type Timing } from "../engine/index.ts";
import { type Environment, fileReader, listEnvironments } from "../model/index.ts";
import { TalosError } from "../talos/errors.ts";
import { openBackups, takeBackup } from "../workspace/backups.ts";
import { fetchClientFiles } from "../workspace/client-files.ts";
import type { WorkspaceContext } from "../workspace/context.ts";
import { deployWithHelper } from "../workspace/deploy.ts";
import { runsWithoutTerraform } from "../workspace/kinds.ts";
import { type OpenCluster, openCluster } from "../workspace/open-cluster.ts";
import { ownedByTerraform } from "../workspace/terraform/state-file.ts";
import { readConditions, writeConditions } from "./condition-file.ts";
import { environmentCache } from "./environment-cache.ts";
import { lookAt } from "./observe-cluster.ts";
import type { WatchedProject } from "./project.ts";

/** The project as the operator needs it. `names`: only these; none means all that there are. */
export function openWatchedProject(root: string, names: readonly string[], context: WorkspaceContext): WatchedProject {
  const open = clusterOpener(openCluster, systemTiming);
  return {
    environmentNames: () => (names.length > 0 ? names : listEnvironments(root)),
    load: environmentCache(fileReader(root)),
    async look(environment, signal) {
      const within = { ...context, signal };
      await fetchClientFiles(root, environment.name, within);
      const cluster = await open(environment, within);
      const look = await lookAt(cluster, within);
      const obstacle = exchangeUnderWay(cluster) ?? (await obstacleTo(root, environment));
      return { ...look, ...(obstacle === undefined ? {} : { obstacle }) };
    },
    async repair(environment, review, events, signal) {
      await deployWithHelper(root, environment, { ...context, signal }, events, {}, review);
    },
    async backup({ name }, onRetry, signal) {
      const within = { ...context, signal };
      const backups = await openBackups(name, within);
      const { id, bytes } = await takeBackup(backups, within, onRetry);
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
  open: (name: string, context: WorkspaceContext) => Promise<OpenCluster>,
  timing: Pick<Timing, "elapsed">,
): (environment: Environment, context: WorkspaceContext) => Promise<OpenCluster> {
  const known = new Map<string, { readonly of: Environment; readonly at: number; readonly cluster: OpenCluster }>();
  return async (environment, context) => {
    const { name, kind, backend } = environment;
    if (runsWithoutTerraform(kind) || backend.kind === "local") return open(name, context);
    const now = timing.elapsed();
    const last = known.get(name);
    if (last?.of === environment && now - last.at < stateLasts) return last.cluster;
    const cluster = await open(name, context);
    known.set(name, { of: environment, at: now, cluster });
    return cluster;
  };
}

/** Whoever began it takes the machines through it, pass by pass; a repair between two passes would cut somebody off. */
function exchangeUnderWay({ environment, secrets }: OpenCluster): string | undefined {
  if (secrets.rotation === undefined) return undefined;
  return `its CAs are being exchanged; if nobody is at it any more: talosmith rotate-ca ${environment.name} --dry-run=false`;
}

/** Two owners of one cluster would undo each other's work. */
async function obstacleTo(root: string, environment: Environment): Promise<string | undefined> {
  try {
    const owned = await ownedByTerraform(root, environment);
    return owned ? `it belongs to Terraform: talosmith deploy ${environment.name}` : undefined;
  } catch (error) {
    return TalosError.from(error).message;
  }
}
