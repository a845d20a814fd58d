// SPDX-License-Identifier: Apache-2.0
import type { Clock, Entropy } from "../../talos/clock.ts";
import { TalosError } from "../../talos/errors.ts";
import { generateThrowawaySecrets } from "../../talos/secrets/index.ts";
import type { Contract, TalosVersion } from "../../talos/version/index.ts";
import { desiredCluster, type EventListener, type Timing } from "../index.ts";
import type { Backup } from "./backup.ts";
import { downloadBackup } from "./backups.ts";
import { rehearseRestore } from "./rehearse-restore.ts";
import type { BackupStore } from "./scratch-file.ts";
import type { SnapshotStatus } from "./snapshot-status.ts";

export interface Drill {
  readonly backup: Backup;
  readonly restored: SnapshotStatus;
  /** Whether what came out is what went in. */
  readonly same: boolean;
}

export interface DrillOptions {
  readonly store: BackupStore;
  readonly backup: Backup;
  /** Where the snapshot is downloaded to. */
  readonly folder: string;
  /** A throwaway machine in maintenance mode. */
  readonly machine: { readonly name: string; readonly address: string; readonly fingerprint: string };
  readonly talosVersion: TalosVersion;
  readonly contract: Contract;
  readonly kubernetesVersion: string;
  readonly events?: EventListener;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly timing: Timing;
  readonly signal: AbortSignal;
}

/** Restores a backup onto a throwaway machine, with secrets of its own: nothing of the real cluster is touched. */
export async function rehearseBackup(options: DrillOptions): Promise<Drill> {
  const { store, backup, folder, machine, talosVersion, contract, kubernetesVersion, signal } = options;
  const snapshot = await downloadBackup(store, backup, folder, signal);
  const secrets = await generateThrowawaySecrets({ contract, clock: options.clock, entropy: options.entropy });
  const machines = [{ ...machine, role: "controlplane" as const }];
  const endpoint = `https://${machine.address}:6443`;
  const desired = desiredCluster(
    { name: "drill", endpoint, talosVersion, contract, kubernetesVersion, machines },
    secrets,
  );
  const restored = await rehearseRestore({ ...options, desired, secrets, snapshot });
  return { backup, restored, same: restored.revision === backup.revision && restored.hash === backup.hash };
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
