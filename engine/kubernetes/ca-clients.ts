// SPDX-License-Identifier: Apache-2.0
// Pods that speak to the Kubernetes API: they read its CA when they start, and keep it.
import * as z from "zod";
import { undefinedIf } from "../failures.ts";
import type { ClientPods, Workload } from "../machines.ts";
import type { KubernetesApi } from "./api.ts";
import { type Pod, readPods } from "./objects.ts";

const system = "/api/v1/namespaces/kube-system";

/** The CAs that new pods trust, PEM; empty while there are none. */
export async function rootCas(api: KubernetesApi, signal?: AbortSignal): Promise<string> {
  const found = await api.call(`${system}/configmaps/kube-root-ca.crt`, { signal }).catch(undefinedIf("not-found"));
  const data = z.object({ data: z.object({ "ca.crt": z.string().default("") }) }).safeParse(found).data;
  return data?.data["ca.crt"] ?? "";
}

/** Not `restartedAt`: the same mark a second time restarts nothing, so that an interrupted run may be repeated. */
const restartMark = "talosmith.internal/restarted-for";

/** Replaces all pods of a workload of kube-system, as `kubectl rollout restart` does. One that is not there is fine. */
export async function restartWorkload(
  api: KubernetesApi,
  { kind, name }: Workload,
  mark: string,
  signal?: AbortSignal,
): Promise<void> {
  const body = { spec: { template: { metadata: { annotations: { [restartMark]: mark } } } } };
  const path = `/apis/apps/v1/namespaces/kube-system/${kind}/${encodeURIComponent(name)}`;
  await api.call(path, { method: "PATCH", body, signal }).catch(undefinedIf("not-found"));
}

/** So many logs are read. A pod that keeps an old CA is among the oldest. */
const mostLogs = 16;
const distrust = /x509: |certificate signed by unknown authority/;

/** What keeps kube-proxies from following the API: those whose log of the last minute has errors of certificates. */
export async function proxyFaults(api: KubernetesApi, signal?: AbortSignal): Promise<readonly string[]> {
  const selector = `labelSelector=${encodeURIComponent("k8s-app=kube-proxy")}`;
  const pods = readPods(await api.call(`${system}/pods?${selector}`, { signal }));
  const oldest = pods
    .filter(({ status }) => status.phase === "Running")
    .sort((a, b) => a.metadata.creationTimestamp.localeCompare(b.metadata.creationTimestamp))
    .slice(0, mostLogs);
  const found = await Promise.all(oldest.map((pod) => proxyFault(api, pod, signal)));
  return found.flat();
}

async function proxyFault(api: KubernetesApi, { metadata, spec }: Pod, signal?: AbortSignal): Promise<string[]> {
  const path = `${system}/pods/${encodeURIComponent(metadata.name)}/log?sinceSeconds=60&tailLines=20`;
  // Its kubelet may be away, which is a fault of its own, and told as that.
  const log = await api.call(path, { signal }).catch(() => "");
  const line = String(log)
    .split("\n")
    .findLast((text) => distrust.test(text));
  if (line === undefined) return [];
  return [`${spec.nodeName}: kube-proxy does not trust the Kubernetes API: ${distrust.exec(line)?.[0] ?? ""}`];
}

const page = z.object({ metadata: z.object({ continue: z.string().optional() }).default({}) });

/** Kubernetes gives every pod that may use its API a volume of this name, with token and CA. */
function mayUseApi({ spec }: Pod): boolean {
  return spec.volumes.some(({ name }) => name.startsWith("kube-api-access-"));
}

/** Such as `Deployment default/web`, or the pod itself where nothing owns it. */
function ownerOf({ metadata }: Pod): string {
  const { namespace, labels, ownerReferences } = metadata;
  const [owner] = ownerReferences;
  if (owner === undefined) return `Pod ${namespace}/${metadata.name}`;
  const hash = labels["pod-template-hash"];
  if (owner.kind !== "ReplicaSet" || hash === undefined) return `${owner.kind} ${namespace}/${owner.name}`;
  return `Deployment ${namespace}/${owner.name.replace(new RegExp(`-${hash}$`), "")}`;
}

/** Who speaks to the API from pods, and since when: all pods that got a token. */
export async function clientPods(api: KubernetesApi, signal?: AbortSignal): Promise<readonly ClientPods[]> {
  const owners = new Map<string, ClientPods>();
  for (let next: string | undefined = ""; next !== undefined; ) {
    const answer = await api.call(`/api/v1/pods?limit=500${next && `&continue=${encodeURIComponent(next)}`}`, {
      signal,
    });
    for (const pod of readPods(answer).filter(mayUseApi)) {
      const owner = ownerOf(pod);
      const known = owners.get(owner);
      const { creationTimestamp: since } = pod.metadata;
      const oldest = known === undefined || since < known.since ? since : known.since;
      owners.set(owner, { owner, pods: (known?.pods ?? 0) + 1, since: oldest });
    }
    next = page.safeParse(answer).data?.metadata.continue || undefined;
  }
  return [...owners.values()];
}
