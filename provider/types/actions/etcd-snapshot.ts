// SPDX-License-Identifier: Apache-2.0
import { type Action, type Attributes, attribute } from "../../framework/index.ts";
import type { Client } from "../client.ts";
import { backupAttributes, newBackup, oneBackupPlace } from "../etcd-snapshot.ts";

const attributes = {
  ...backupAttributes,
  cluster_name: attribute.required.string("Name of the cluster."),
} satisfies Attributes;

export const takeSnapshot: Action<typeof attributes, Client> = {
  name: "talosmith_etcd_snapshot",
  description:
    "Takes a backup of a cluster's etcd, checks it from end to end, and stores it in a folder or an S3-compatible store. Triggered before an update of a `talosmith_cluster`, every upgrade begins with a backup.",
  attributes,
  timeouts: { invoke: "30m" },
  validate: oneBackupPlace,

  async invoke({ config, progress, ...operation }) {
    const { backup, store } = await newBackup(config, operation);
    const { id, bytes, revision, hash } = backup;
    progress(`backup ${id} is in ${store.place}: ${bytes} bytes, revision ${revision}, hash ${hash}`);
  },
};
