// SPDX-License-Identifier: Apache-2.0
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { type Action, type Attributes, attribute } from "../../framework/index.ts";
import type { Client } from "../client.ts";
import { backupPlace, oneBackupPlace, storeOf } from "../etcd-snapshot.ts";

const attributes = {
  cluster_name: attribute.required.string("Name of the cluster."),
  ...backupPlace,
  backup: attribute.optional.string("Name of the backup. Default: the latest."),
} satisfies Attributes;

export const restoreDrill: Action<typeof attributes, Client> = {
  name: "talosmith_restore_drill",
  description:
    "Restores a backup into a simulator of its own and compares revision and hash of what comes out. Fails where they differ. The real cluster is not touched.",
  attributes,
  timeouts: { invoke: "30m" },
  validate: oneBackupPlace,

  async invoke({ config, client, signal, progress }) {
    const [
      backups,
      { systemClock, systemEntropy },
      { systemTiming },
      { temporaryFolder },
      versions,
      { caFingerprint },
    ] = await Promise.all([
      import("../../../engine/backup/index.ts"),
      import("../../../talos/clock.ts"),
      import("../../../engine/index.ts"),
      import("../../../talos/process-folder.ts"),
      import("../../../talos/version/index.ts"),
      import("../../../talos/secrets/index.ts"),
    ]);
    const store = await storeOf(config, client);
    const cas = [caFingerprint(await client.secrets.of(null))];
    const backup = await backups.findBackup(store, config.cluster_name, config.backup ?? "latest", { cas, signal });
    const folder = temporaryFolder("drill");
    const simulator = await client.simulatorIn(join(folder, "simulator"));
    try {
      const { defaultTalosVersion: talosVersion } = versions;
      const name = "drill-cp-1";
      const made = await simulator.createMachine({ name, cluster: "drill", talosVersion: talosVersion.toString() });
      const issuing = { clock: systemClock, entropy: systemEntropy, timing: systemTiming, signal };
      const done = await backups.rehearseBackup({
        ...issuing,
        ...{ store, backup, folder, machine: { ...made, name } },
        talosVersion,
        contract: talosVersion.contract,
        kubernetesVersion: talosVersion.resolveKubernetes("latest").toString(),
        events: ({ message }) => progress(message),
      });
      progress(backups.drillVerdict(done));
    } finally {
      await simulator.shutdown();
      await rm(folder, { recursive: true, force: true });
    }
  },
};
