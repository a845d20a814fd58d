// SPDX-License-Identifier: Apache-2.0
import type { NodeConfig } from "../machine/node-config.ts";
import type { Moment } from "../machine/timings.ts";
import { type Cluster, type KubernetesObject, without } from "../machine/world.ts";
import { isHealthy } from "./eviction.ts";
import { usesApi } from "./pod.ts";
import { createObject, getObject, listObjects, updateObject } from "./store.ts";

const name = "kube-root-ca.crt";

/** The controller manager puts the CAs that pods should trust into every namespace. */
export function publishRootCas(cluster: Cluster, config: NodeConfig, moment: Moment): Cluster {
  const data = { "ca.crt": config.kubernetesCa.certificate };
  return listObjects(cluster, "namespaces").reduce((next, { metadata: { name: namespace, deletionTimestamp } }) => {
    const known = getObject(next, "configmaps", namespace, name) as { data?: typeof data } | undefined;
    if (deletionTimestamp !== undefined || known?.data?.["ca.crt"] === data["ca.crt"]) return next;
    if (known !== undefined) return updateObject(next, "configmaps", { ...(known as KubernetesObject), data });
    const metadata = { name, namespace };
    return createObject(next, "configmaps", { apiVersion: "v1", kind: "ConfigMap", metadata, data }, moment);
  }, cluster);
}

/** Notes what pods that have begun to run trust from now on, and forgets those that are gone or have stopped, as by a reboot. */
export function noteTrust(cluster: Cluster): Cluster {
  const clients = listObjects(cluster, "pods").filter(isClient);
  const pods = new Map(clients.map((pod) => [pod.metadata.uid, pod]));
  const gone = Object.keys(cluster.trusted ?? {}).filter((uid) => !pods.has(uid));
  const fresh = clients.filter(({ metadata: { uid } }) => cluster.trusted?.[uid] === undefined);
  if (gone.length + fresh.length === 0) return cluster;
  const entries = fresh.map((pod) => [pod.metadata.uid, publishedIn(cluster, pod.metadata.namespace)] as const);
  const kept = gone.reduce((all, uid) => without(all, uid), cluster.trusted ?? {});
  return { ...cluster, trusted: { ...kept, ...Object.fromEntries(entries) } };
}

function isClient(pod: KubernetesObject): boolean {
  return usesApi(pod) && isHealthy(pod);
}

function publishedIn(cluster: Cluster, namespace: string | undefined): string {
  const found = getObject(cluster, "configmaps", namespace, name) as { data?: { "ca.crt"?: string } } | undefined;
  return found?.data?.["ca.crt"] ?? "";
}

/** What a pod writes that trusts none of the CAs of these API servers; empty where it gets in. */
export function distrustLog(
  cluster: Cluster,
  pod: KubernetesObject,
  servers: readonly NodeConfig[],
  at: string,
): string {
  const trusted = cluster.trusted?.[pod.metadata.uid];
  const isIn = (config: NodeConfig) => trusted === undefined || trusted.includes(config.kubernetesCa.certificate);
  if (servers.every(isIn)) return "";
  const failure = "tls: failed to verify certificate: x509: certificate signed by unknown authority";
  return `${at} "Failed to watch" err="failed to list *v1.Service: Get \\"https://127.0.0.1:7445/api/v1/services\\": ${failure}"\n`;
}
