// SPDX-License-Identifier: Apache-2.0
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { type Drill, findBackup, rehearseBackup } from "../engine/backup/index.ts";
import { type EventListener, systemTiming } from "../engine/index.ts";
import { temporaryFolder } from "../talos/process-folder.ts";
import { contractOf, TalosVersion } from "../talos/version/index.ts";
import type { OpenBackups } from "./backups.ts";
import { simulatorIn } from "./simulator.ts";

/** A backup restored into a simulator of its own. Touches nothing of the real cluster. */
export async function drillBackup(
  { workspace, store, cluster, cas }: OpenBackups,
  which: string,
  events: EventListener,
): Promise<Drill> {
  const { environment, context } = workspace;
  const { clock, entropy, signal } = context;
  const backup = await findBackup(store, cluster, which, { cas, signal });
  const folder = temporaryFolder("drill");
  const simulator = simulatorIn(join(folder, "simulator"));
  try {
    const talosVersion = TalosVersion.parse(environment.cluster.talosVersion);
    const name = "drill-cp-1";
    const made = await simulator.createMachine({ name, cluster: "drill", talosVersion: talosVersion.toString() });
    return await rehearseBackup({
      ...{ store, backup, folder, machine: { ...made, name }, events, clock, entropy, timing: systemTiming, signal },
      talosVersion,
      contract: contractOf(environment.cluster),
      kubernetesVersion: environment.cluster.kubernetesVersion,
    });
  } finally {
    await simulator.shutdown();
    await rm(folder, { recursive: true, force: true });
  }
}
