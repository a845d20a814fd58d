// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { defaultPolicy, type ObservedCluster, unreadyParts } from "../../engine/index.ts";
import { type Difference, found, unreachable } from "./found.ts";
import { wish } from "./wish.ts";

const desired = wish();
const planes = ["cp-1", "cp-2", "cp-3"];
const names = ["kube-apiserver", "kube-controller-manager", "kube-scheduler"] as const;
type Pod = { readonly version: string; readonly ready: boolean; readonly reason?: string };

function observed(difference: Difference = {}, pods: Readonly<Record<string, Partial<Pod> | "none">> = {}) {
  const cluster = found(desired, difference);
  const components = planes.flatMap((node) =>
    names.flatMap((component) => {
      const other = pods[`${component}-${node}`] ?? {};
      return other === "none" ? [] : [{ component, node, version: "1.36.3", ready: true, ...other }];
    }),
  );
  const { kubernetes } = cluster;
  return { ...cluster, kubernetes: kubernetes.kind === "reachable" ? { ...kubernetes, components } : kubernetes };
}
const messages = (cluster: ObservedCluster, policy: Partial<typeof defaultPolicy> = {}, wanted = desired) =>
  unreadyParts(wanted, cluster, { ...defaultPolicy, ...policy }).map(({ part, message }) => `${part} ${message}`);

describe("what of a cluster does not work", () => {
  test("is nothing where all is well", () => expect(messages(observed())).toEqual([]));

  test.each<[string, Difference, Parameters<typeof observed>[1], readonly string[]]>([
    [
      "a component that is not ready",
      {},
      { "kube-controller-manager-cp-2": { ready: false, reason: 'ImagePullBackOff: Back-off pulling image "x"' } },
      ['component cp-2: kube-controller-manager is not ready: ImagePullBackOff: Back-off pulling image "x"'],
    ],
    [
      "a component of another version than its config has",
      {},
      { "kube-scheduler-cp-1": { version: "1.36.1" } },
      ["component cp-1: kube-scheduler runs 1.36.1, and its config has 1.36.3"],
    ],
    [
      "a component without a pod",
      {},
      { "kube-apiserver-cp-3": "none" },
      ["component cp-3: the pod of kube-apiserver is not there"],
    ],
    [
      "a node that is not ready",
      { nodes: { "w-1": { ready: false, reason: "container runtime is down" } } },
      {},
      ["node w-1: its Kubernetes node is not ready: container runtime is down"],
    ],
    ["a node that is not there", { nodes: { "w-1": "none" } }, {}, ["node w-1: Kubernetes has no node of this name"]],
    [
      "etcd that is not healthy",
      { machines: { "cp-2": { etcd: { state: "down", healthy: false, members: [] } } } },
      {},
      ["etcd cp-2: it is not a healthy member of etcd"],
    ],
    [
      "a machine that boots, and a service of another",
      {
        machines: {
          "w-1": { stage: "booting" },
          "w-2": { unmet: [{ name: "services", reason: "kubelet not healthy" }] },
        },
      },
      {},
      ["machine w-1: it is booting", "machine w-2: services: kubelet not healthy"],
    ],
    [
      "an API that does not answer",
      { kubernetes: "unreachable" },
      {},
      [expect.stringContaining("kubernetes the Kubernetes API does not answer: ")],
    ],
  ])("%s", (_, difference, pods, expected) => expect(messages(observed(difference, pods))).toEqual(expected));

  test("says nothing of machines that do not answer: of them nothing is known", () =>
    expect(messages(observed({ machines: { "w-1": unreachable } }))).toEqual([]));

  test.each<[string, Partial<typeof defaultPolicy>]>([
    ["where Kubernetes cannot run", { healthLevel: "talos" }],
    ["where only the API is waited for", { healthLevel: "api" }],
  ])("leaves nodes and components out %s", (_, policy) => {
    const difference = { nodes: { "w-1": { ready: false } } };
    expect(messages(observed(difference, { "kube-scheduler-cp-1": { ready: false } }), policy)).toEqual([]);
  });

  test("takes nodes that cannot become ready as they are", () => {
    const unmet = [{ name: "nodeReady", reason: 'node "w-1" is not ready' }];
    const difference = { nodes: { "w-1": { ready: false } }, machines: { "w-1": { unmet } } };
    expect(messages(observed(difference), {}, { ...desired, nodesBecomeReady: false })).toEqual([]);
  });
});
