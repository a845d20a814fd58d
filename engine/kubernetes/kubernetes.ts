// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../../talos/errors.ts";
import { oneLine } from "../../talos/plain-text.ts";
import { systemTiming, type Timing } from "../execute/timing.ts";
import type { Kubernetes } from "../machines.ts";
import { isCertificateFault, type KubernetesAccess, type KubernetesApi, kubernetesApi } from "./api.ts";
import { drainNode, setSchedulable, uncordonNode } from "./drain.ts";
import { apisGoneWith } from "./gone-apis.ts";
import { deleteLease, readLease, releaseLease, takeLease } from "./lease.ts";
import { syncManifests } from "./manifests.ts";
import { isReady, readNode, readNodes, readPod, readWorkload, readWorkloadVersion, versionOf } from "./objects.ts";
import { changeOwnership, readOwnership } from "./ownership.ts";

/** The engine's view of a cluster's Kubernetes API. `endpoint` is the address that users will have. */
export function kubernetesOver(
  access: KubernetesAccess,
  endpoint: string,
  timing: Timing = systemTiming,
): Kubernetes & { close(): void } {
  const api = kubernetesApi(access);
  const withSignal = (signal: AbortSignal | undefined) => (signal === undefined ? {} : { signal });
  return {
    async observe(signal) {
      try {
        const [nodes, proxyVersion] = await Promise.all([
          api.call("/api/v1/nodes", withSignal(signal)),
          proxyVersionIn(api, withSignal(signal)),
        ]);
        const proxy = proxyVersion === undefined ? {} : { proxyVersion };
        return { kind: "reachable", nodes: readNodes(nodes), ...proxy };
      } catch (error) {
        return unreachable(error);
      }
    },
    async observeNode(name, signal) {
      try {
        const node = readNode(await api.call(`/api/v1/nodes/${encodeURIComponent(name)}`, withSignal(signal)));
        return { kind: "reachable", node };
      } catch (error) {
        if (error instanceof TalosError && error.code === "not-found") return { kind: "reachable", node: undefined };
        return unreachable(error);
      }
    },
    async endpointObstacle(signal) {
      try {
        await api.call("/readyz", { ...withSignal(signal), server: endpoint });
        return undefined;
      } catch (error) {
        const ours = TalosError.from(error);
        if (ours.code === "canceled") throw ours;
        return { reason: ours.message, certificate: isCertificateFault(ours) };
      }
    },
    drain: (node, how, signal) => drainNode(api, node, how, signal),
    setSchedulable: (node, schedulable, signal) => setSchedulable(api, node, schedulable, signal),
    uncordon: (node, signal) => uncordonNode(api, node, signal),
    async component(component, node, signal) {
      try {
        const path = `/api/v1/namespaces/kube-system/pods/${encodeURIComponent(`${component}-${node}`)}`;
        const pod = readPod(await api.call(path, withSignal(signal)));
        const image = pod.spec.containers.find(({ name }) => name === component)?.image ?? "";
        return { version: versionOf(image) ?? "", ready: isReady(pod) };
      } catch (error) {
        if (error instanceof TalosError && error.code === "not-found") return undefined;
        throw error;
      }
    },
    async workload(kind, name, signal) {
      try {
        const path = `/apis/apps/v1/namespaces/kube-system/${kind}/${encodeURIComponent(name)}`;
        return readWorkload(await api.call(path, withSignal(signal)));
      } catch (error) {
        if (error instanceof TalosError && error.code === "not-found") return undefined;
        throw error;
      }
    },
    apisGoneWith: (version, signal) => apisGoneWith(api, version, signal),
    syncManifests: (objects, { inventory, signal }) => syncManifests(api, objects, inventory, signal),
    takeLease: (holder, signal, watching) => takeLease(api, holder, timing, { signal, watching }),
    readLease: (signal) => readLease(api, timing.now(), signal),
    deleteLease: (signal) => deleteLease(api, signal),
    releaseLease: (holder) => releaseLease(api, holder),
    readOwnership: (signal) => readOwnership(api, signal),
    changeOwnership: (change, signal) => changeOwnership(api, change, signal),
    async deleteNode(node, signal) {
      try {
        await api.call(`/api/v1/nodes/${encodeURIComponent(node)}`, { method: "DELETE", ...withSignal(signal) });
      } catch (error) {
        if (!(error instanceof TalosError) || error.code !== "not-found") throw error;
      }
    },
    close: () => api.close(),
  };
}

function unreachable(error: unknown): { readonly kind: "unreachable"; readonly reason: string } {
  const ours = TalosError.from(error);
  if (ours.code === "canceled") throw ours;
  return { kind: "unreachable", reason: oneLine(ours.message) };
}

async function proxyVersionIn(api: KubernetesApi, options: { signal?: AbortSignal }): Promise<string | undefined> {
  try {
    const path = "/apis/apps/v1/namespaces/kube-system/daemonsets/kube-proxy";
    return readWorkloadVersion(await api.call(path, options), "kube-proxy");
  } catch (error) {
    if (error instanceof TalosError && error.code === "not-found") return undefined;
    throw error;
  }
}
