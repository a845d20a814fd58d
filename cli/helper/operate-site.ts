// SPDX-License-Identifier: Apache-2.0
import type { Site } from "../../operate/index.ts";
import { pruneBackups } from "../../talos/backup/index.ts";
import { systemTiming, type Timing } from "../../talos/cluster/index.ts";
import { type Environment, fileReader, listEnvironments } from "../../talos/environment/index.ts";
import { TalosError } from "../../talos/errors.ts";
import type { CommandContext } from "../context.ts";
import { ownedByTerraform } from "../terraform/state-file.ts";
import { openBackups, takeBackup } from "./backups.ts";
import { fetchClientFiles } from "./client-files.ts";
import { lookAt } from "./cluster-look.ts";
import { readConditions, writeConditions } from "./conditions.ts";
import { environmentCache } from "./environment-cache.ts";
import { deployWithHelper } from "./helper-door.ts";
import { runsWithoutTerraform } from "./kinds.ts";
import { type OpenCluster, openCluster } from "./open-cluster.ts";

/** The project as the operator needs it. `names`: only these; none means all that there are. */
export function projectSite(root: string, names: readonly string[], context: CommandContext): Site {
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
  open: (name: string, context: CommandContext) => Promise<OpenCluster>,
  timing: Pick<Timing, "elapsed">,
): (environment: Environment, context: CommandContext) => Promise<OpenCluster> {
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
