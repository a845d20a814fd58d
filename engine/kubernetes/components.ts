// SPDX-License-Identifier: Apache-2.0
import { given } from "../../talos/given.ts";
import { undefinedIf } from "../failures.ts";
import type { ObservedComponent } from "../observed.ts";
import { type KubernetesComponent, staticPodComponents } from "../step.ts";
import type { KubernetesApi } from "./api.ts";
import { isReady, type Pod, readPod, readPods, versionOf, waitingReason } from "./objects.ts";

const pods = "/api/v1/namespaces/kube-system/pods";
/** The label that Talos gives its static pods. */
const ofControlPlanes = `labelSelector=${encodeURIComponent("tier=control-plane")}`;

/** What runs of the control planes' components, all in one call. */
export async function componentsIn(api: KubernetesApi, signal?: AbortSignal): Promise<readonly ObservedComponent[]> {
  const found = readPods(await api.call(`${pods}?${ofControlPlanes}`, { signal }));
  return found.flatMap((pod): ObservedComponent[] => {
    const component = staticPodComponents.find((name) => pod.metadata.name === `${name}-${pod.spec.nodeName}`);
    return component === undefined ? [] : [componentOf(pod, component)];
  });
}

/** One of them on one node; undefined while its pod is not there. */
export async function componentOn(
  api: KubernetesApi,
  component: KubernetesComponent,
  node: string,
  signal?: AbortSignal,
): Promise<ObservedComponent | undefined> {
  const path = `${pods}/${encodeURIComponent(`${component}-${node}`)}`;
  const pod = await api.call(path, { signal }).then(readPod, undefinedIf("not-found"));
  return pod && { ...componentOf(pod, component), node };
}

function componentOf(pod: Pod, component: KubernetesComponent): ObservedComponent {
  const image = pod.spec.containers.find(({ name }) => name === component)?.image ?? "";
  const ready = isReady(pod);
  const reason = ready ? undefined : waitingReason(pod);
  return { component, node: pod.spec.nodeName, version: versionOf(image) ?? "", ready, ...given({ reason }) };
}
