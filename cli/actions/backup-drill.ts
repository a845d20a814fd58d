// SPDX-License-Identifier: Apache-2.0
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { downloadBackup, findBackup, rehearseRestore } from "../../talos/backup/index.ts";
import { desiredCluster, systemTiming } from "../../talos/cluster/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { generateSecrets } from "../../talos/secrets/index.ts";
import { TalosVersion } from "../../talos/version/index.ts";
import type { CommandContext } from "../context.ts";
import { openBackups } from "../helper/backups.ts";
import { simulatorIn } from "../helper/simulator.ts";
import { withProgress } from "../output/progress.ts";

/** A backup restored into a simulator of its own: what comes out must be what went in. */
export async function drill(
  name: string,
  which: string,
  { json }: { json: boolean },
  context: CommandContext,
): Promise<void> {
  const { environment, store, cluster } = await openBackups(name, context);
  const { clock, entropy, signal } = context;
  const backup = await findBackup(store, cluster, which, signal);
  const folder = await mkdtemp(join(tmpdir(), "talosmith-drill-"));
  const simulator = simulatorIn(join(folder, "simulator"));
  try {
    const snapshot = await downloadBackup(store, backup, folder, signal);
    const talosVersion = TalosVersion.parse(environment.cluster.talosVersion);
    // Secrets of its own: a drill proves the backup, and never touches anything of the real cluster.
    const secrets = await generateSecrets({ contract: talosVersion.contract, clock, entropy });
    const machine = await simulator.createMachine({
      name: "drill-cp-1",
      cluster: "drill",
      talosVersion: talosVersion.toString(),
    });
    const desired = desiredCluster(
      {
        name: "drill",
        endpoint: `https://${machine.address}:6443`,
        talosVersion,
        kubernetesVersion: environment.cluster.kubernetesVersion,
        machines: [
          { name: "drill-cp-1", role: "controlplane", address: machine.address, fingerprint: machine.fingerprint },
        ],
      },
      secrets,
    );
    const restored = await withProgress(context, { json }, (events) =>
      rehearseRestore({
        desired,
        secrets,
        snapshot,
        events,
        clock,
        entropy,
        timing: systemTiming,
        signal,
      }),
    );
    const same = restored.revision === backup.revision && restored.hash === backup.hash;
    if (json) {
      const { revision, hash, entries } = restored;
      context.stdout.write(
        `${JSON.stringify({ v: 1, type: "drill", backup: backup.id, same, expected: { revision: backup.revision, hash: backup.hash, entries: backup.entries }, restored: { revision, hash, entries } })}\n`,
      );
    }
    if (!same) {
      throw new TalosError(
        "failed-precondition",
        `${backup.id} came back with revision ${restored.revision} and hash ${restored.hash}, not ${backup.revision} and ${backup.hash}`,
        { hint: "Do not rely on this backup: take a new one and drill again." },
      );
    }
    if (!json)
      context.stdout.write(`${backup.id}: restored, revision ${restored.revision}, hash ${restored.hash}: the same.\n`);
  } finally {
    await simulator.shutdown();
    await rm(folder, { recursive: true, force: true });
  }
}
