// SPDX-License-Identifier: Apache-2.0
// The Secrets of a cluster: its bundle, which outlives the object, and its client files, which go with it.
import { type KubernetesApi, secretIn } from "../engine/index.ts";
import { TalosError } from "../talos/errors.ts";
import type { KeptSecret } from "../talos/secrets/index.ts";
import { fieldManager, idOf, ownedBy } from "./api/objects.ts";
import type { ClusterObject } from "./kinds/cluster.ts";
import { clusterLabel } from "./machine-objects.ts";

/** Names of a cluster's Secrets. The kubeconfig has the key that Flux and Cluster API read. */
export const secretNames = (cluster: string) => ({
  bundle: `${cluster}-talos-secrets`,
  kubeconfig: `${cluster}-kubeconfig`,
  talosconfig: `${cluster}-talosconfig`,
});

/** Of the bundle's Secret: config patches for every machine that hold secrets. */
const patchesKey = "patches.yaml";

/** These patches; undefined where there are none. */
export const secretPatches = (api: KubernetesApi, cluster: ClusterObject): Promise<string | undefined> =>
  clusterSecret(api, cluster).read(patchesKey);

const readyAnnotation = "talosmith.dev/ready-since";

/** The Secrets of one cluster as one: the bundle and the client files by the names that a workspace has for them. */
export function clusterSecret(api: KubernetesApi, cluster: ClusterObject): KeptSecret {
  const { namespace, name } = idOf(cluster.metadata);
  const labels = { [clusterLabel]: name };
  const names = secretNames(name);
  const own = { labels, ownerReferences: [ownedBy("TalosCluster", cluster.metadata)] };
  const bundle = secretIn(api, namespace, names.bundle, { labels });
  const places: Readonly<Record<string, readonly [secret: KeptSecret, key: string]>> = {
    "secrets.yaml": [bundle, "secrets.yaml"],
    [patchesKey]: [bundle, patchesKey],
    kubeconfig: [secretIn(api, namespace, names.kubeconfig, own), "value"],
    talosconfig: [secretIn(api, namespace, names.talosconfig, own), "talosconfig"],
  };
  const placeOf = (key: string) => {
    const place = places[key];
    if (place === undefined) throw new TalosError("internal", `no Secret for ${key}`);
    return place;
  };
  return {
    place: `the Secret ${names.bundle}`,
    read: (key) => {
      const [secret, own] = placeOf(key);
      return secret.read(own);
    },
    write: (key, text, expects) => {
      const [secret, own] = placeOf(key);
      return secret.write(own, text, expects);
    },
  };
}

const pathOf = ({ metadata }: ClusterObject): string => {
  const { namespace, name } = idOf(metadata);
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets/${secretNames(name).bundle}`;
};

/** Since when the cluster was ready, as the bundle's Secret says; undefined where it does not, or is not there. */
export async function recordedReady(
  api: KubernetesApi,
  cluster: ClusterObject,
  signal: AbortSignal,
): Promise<{ readonly bundle: boolean; readonly readySince: string | undefined }> {
  try {
    const found = (await api.call(pathOf(cluster), { signal })) as {
      readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> };
    };
    return { bundle: true, readySince: found.metadata?.annotations?.[readyAnnotation] };
  } catch (error) {
    if (TalosError.from(error).code === "not-found") return { bundle: false, readySince: undefined };
    throw error;
  }
}

/** Before the status says so: objects that are restored from a backup keep at least one of the two. */
export async function recordReady(
  api: KubernetesApi,
  cluster: ClusterObject,
  readySince: string,
  signal: AbortSignal,
): Promise<void> {
  const body = { metadata: { annotations: { [readyAnnotation]: readySince } } };
  await api.call(`${pathOf(cluster)}?fieldManager=${fieldManager}`, { method: "PATCH", body, signal });
}

/** The cluster is wiped: nothing is left that its bundle could open. */
export async function deleteBundle(api: KubernetesApi, cluster: ClusterObject, signal: AbortSignal): Promise<void> {
  try {
    await api.call(pathOf(cluster), { method: "DELETE", signal });
  } catch (error) {
    if (TalosError.from(error).code !== "not-found") throw error;
  }
}
