// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../../talos/errors.ts";
import { given } from "../../talos/given.ts";
import { systemTiming, type Timing } from "../execute/timing.ts";
import { undefinedIf, unreachable } from "../failures.ts";
import type { Kubernetes } from "../machines.ts";
import { isCertificateFault, type KubernetesAccess, type KubernetesApi, kubernetesApi } from "./api.ts";
import { clientPods, proxyFaults, restartWorkload, rootCas } from "./ca-clients.ts";
import { componentOn, componentsIn } from "./components.ts";
import { drainNode, setSchedulable, uncordonNode } from "./drain.ts";
import { apisGoneWith } from "./gone-apis.ts";
import { changeOwnership, readOwnership } from "./kept-objects.ts";
import { deleteLease, readLease, releaseLease, takeLease } from "./lease.ts";
import { syncManifests } from "./manifests.ts";
import { nodePath, readNode, readNodes, readWorkloadVersion } from "./objects.ts";
import { workloadStatus } from "./workloads.ts";

/** The engine's view of a cluster's Kubernetes API. `endpoint` is the address that users will have. */
export function kubernetesOver(
  access: KubernetesAccess,
  endpoint: string,
  timing: Timing = systemTiming,
): Kubernetes & { close(): void } {
  const api = kubernetesApi(access);
  return {
    async observe(signal) {
      try {
        const [nodes, proxyVersion, components] = await Promise.all([
          api.call("/api/v1/nodes", { signal }),
          proxyVersionIn(api, signal),
          componentsIn(api, signal),
        ]);
        return { kind: "reachable", nodes: readNodes(nodes), components, ...given({ proxyVersion }) };
      } catch (error) {
        return unreachable(error);
      }
    },
    async observeNode(name, signal) {
      try {
        const node = await api.call(nodePath(name), { signal }).then(readNode, undefinedIf("not-found"));
        return { kind: "reachable", node };
      } catch (error) {
        return unreachable(error);
      }
    },
    async endpointObstacle(signal) {
      try {
        await api.call("/readyz", { signal, server: endpoint });
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
    component: (component, node, signal) => componentOn(api, component, node, signal),
    workload: (kind, name, options) => workloadStatus(api, kind, name, options),
    rootCas: (signal) => rootCas(api, signal),
    restartWorkload: (workload, mark, signal) => restartWorkload(api, workload, mark, signal),
    clientPods: (signal) => clientPods(api, signal),
    proxyFaults: (signal) => proxyFaults(api, signal),
    apisGoneWith: (version, signal) => apisGoneWith(api, version, signal),
    syncManifests: (objects, { inventory, signal }) => syncManifests(api, objects, inventory, signal),
    takeLease: (holder, signal, watching) => takeLease(api, holder, timing, { signal, watching }),
    readLease: (signal) => readLease(api, timing.now(), signal),
    deleteLease: (signal) => deleteLease(api, signal),
    releaseLease: (holder) => releaseLease(api, holder),
    readOwnership: (signal) => readOwnership(api, signal),
    changeOwnership: (change, signal) => changeOwnership(api, change, signal),
    async deleteNode(node, signal) {
      await api.call(nodePath(node), { method: "DELETE", signal }).catch(undefinedIf("not-found"));
    },
    close: () => api.close(),
  };
}

function proxyVersionIn(api: KubernetesApi, signal: AbortSignal | undefined): Promise<string | undefined> {
  const path = "/apis/apps/v1/namespaces/kube-system/daemonsets/kube-proxy";
  return api
    .call(path, { signal })
    .then((answer) => readWorkloadVersion(answer, "kube-proxy"), undefinedIf("not-found"));
}
