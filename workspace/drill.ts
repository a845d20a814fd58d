// SPDX-License-Identifier: Apache-2.0
import { rm } from "node:fs/promises";
import { join } from "node:path";
import {
  type Backup,
  downloadBackup,
  findBackup,
  rehearseRestore,
  type SnapshotStatus,
} from "../engine/backup/index.ts";
import { desiredCluster, type EventListener, systemTiming } from "../engine/index.ts";
import { TalosError } from "../talos/errors.ts";
import { temporaryFolder } from "../talos/process-folder.ts";
import { generateThrowawaySecrets } from "../talos/secrets/index.ts";
import { contractOf, TalosVersion } from "../talos/version/index.ts";
import type { OpenBackups } from "./backups.ts";
import { simulatorIn } from "./simulator.ts";

interface Drill {
  readonly backup: Backup;
  readonly restored: SnapshotStatus;
  /** Whether what came out is what went in. */
  readonly same: boolean;
}

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
    const snapshot = await downloadBackup(store, backup, folder, signal);
    const talosVersion = TalosVersion.parse(environment.cluster.talosVersion);
    const contract = contractOf(environment.cluster);
    // Secrets of its own: a drill proves the backup, and never touches anything of the real cluster.
    const secrets = await generateThrowawaySecrets({ contract, clock, entropy });
    const { address, fingerprint } = await simulator.createMachine({
      name: "drill-cp-1",
      cluster: "drill",
      talosVersion: talosVersion.toString(),
    });
    const desired = desiredCluster(
      {
        name: "drill",
        endpoint: `https://${address}:6443`,
        talosVersion,
        contract,
        kubernetesVersion: environment.cluster.kubernetesVersion,
        machines: [{ name: "drill-cp-1", role: "controlplane", address, fingerprint }],
      },
      secrets,
    );
    const options = { desired, secrets, snapshot, events, clock, entropy, timing: systemTiming, signal };
    const restored = await rehearseRestore(options);
    return { backup, restored, same: restored.revision === backup.revision && restored.hash === backup.hash };
  } finally {
    await simulator.shutdown();
    await rm(folder, { recursive: true, force: true });
  }
}

/** What to tell of a drill that went well; throws when the backup is not what it should be. */
export function drillVerdict({ backup, restored, same }: Drill): string {
  if (same) return `${backup.id}: restored, revision ${restored.revision}, hash ${restored.hash}: the same.`;
  throw new TalosError(
    "failed-precondition",
    `${backup.id} came back with revision ${restored.revision} and hash ${restored.hash}, not ${backup.revision} and ${backup.hash}`,
    { hint: "Do not rely on this backup: take a new one and drill again." },
  );
}
