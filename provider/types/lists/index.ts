// SPDX-License-Identifier: Apache-2.0
// What `terraform query` finds of a cluster that exists.
import { type Attributes, attribute, type ListResource } from "../../framework/index.ts";
import { adminOf } from "../access.ts";
import { onCluster } from "../addon.ts";
import type { Client } from "../client.ts";
import { backupPlace, oneBackupPlace, storeOf } from "../etcd-snapshot.ts";
import { snapshotAddress } from "../import-snapshot.ts";
import { clusterAsKnownBy, firstAnswer } from "../known-cluster.ts";
import { controlPlaneAddresses } from "../value-rules.ts";

const inCluster = { endpoints: controlPlaneAddresses } satisfies Attributes;

const clusters: ListResource<typeof inCluster, Client> = {
  name: "talosmith_cluster",
  description: "The cluster of these control planes. The provider block has its secrets.",
  attributes: inCluster,
  async list({ config: { endpoints }, client, signal }) {
    const { cluster, teller } = await knownBy(endpoints, client, signal);
    return [{ identity: { name: cluster.name, address: teller }, name: cluster.name }];
  },
};

const members: ListResource<typeof inCluster, Client> = {
  name: "talosmith_member",
  description:
    "The machines of a cluster, each by its address, as existing machines (metal) are known. Without discovery only control planes are found.",
  attributes: inCluster,
  async list({ config: { endpoints }, client, signal }) {
    const { cluster } = await knownBy(endpoints, client, signal);
    return cluster.machines.map(({ name, address }) => {
      return { identity: { cluster: cluster.name, name, machine_id: address, address }, name };
    });
  },
};

const addons: ListResource<typeof inCluster, Client> = {
  name: "talosmith_addon",
  description: "The Helm releases of a cluster, in all namespaces.",
  attributes: inCluster,
  async list({ config: { endpoints }, ...operation }) {
    const { releasesOf } = await import("../../../engine/addon/index.ts");
    const [address = ""] = endpoints;
    const releases = await onCluster(endpoints, operation, (access) => releasesOf(access).all());
    return releases.map(({ name, namespace }) => {
      return { identity: { address, namespace, name }, name: `${namespace}/${name}` };
    });
  },
};

const inStore = {
  cluster_name: attribute.required.string("Name of the cluster."),
  ...backupPlace,
} satisfies Attributes;

const snapshots: ListResource<typeof inStore, Client> = {
  name: "talosmith_etcd_snapshot",
  description: "The backups of a cluster in a folder or an S3-compatible store, oldest first.",
  attributes: inStore,
  validate: oneBackupPlace,
  async list({ config, client, signal }) {
    const { listBackups } = await import("../../../engine/backup/index.ts");
    const backups = await listBackups(await storeOf(config, client), config.cluster_name, signal);
    return backups.map(({ id }) => ({ identity: { address: snapshotAddress(config, id) }, name: id }));
  },
};

export const lists = [addons, clusters, members, snapshots] as const;

async function knownBy(endpoints: readonly string[], client: Client, signal: AbortSignal) {
  await client.keepSimulator(endpoints);
  const secrets = await client.secrets.of(null);
  const ask = await adminOf(secrets);
  return firstAnswer(endpoints, signal, async (teller) => {
    return { teller, ...(await clusterAsKnownBy(teller, ask, secrets, signal)) };
  });
}
