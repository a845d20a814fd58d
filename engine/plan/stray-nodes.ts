// SPDX-License-Identifier: Apache-2.0
import type { DesiredCluster } from "../desired.ts";
import type { Finding } from "../events.ts";
import type { KubernetesNode, ObservedCluster, ObservedKubernetes } from "../observed.ts";

type Listed = Pick<DesiredCluster, "machines" | "leaving">;

/** Nodes of Kubernetes that are no machine of the list: of another state, or of machines that are gone. */
export function strayNodes(desired: Listed, kubernetes: ObservedKubernetes): readonly KubernetesNode[] {
  if (kubernetes.kind === "unreachable") return [];
  const listed = new Set([...desired.machines, ...desired.leaving].map(({ name }) => name));
  return kubernetes.nodes.filter(({ name }) => !listed.has(name));
}

/** Those of them that do not answer. Daemon sets count them for as long as they are there. */
export function deadNodes(desired: Listed, kubernetes: ObservedKubernetes): readonly string[] {
  return strayNodes(desired, kubernetes).flatMap(({ name, ready }) => (ready ? [] : [name]));
}

export function deadNodeFindings(desired: Listed, { kubernetes }: ObservedCluster): readonly Finding[] {
  const names = deadNodes(desired, kubernetes);
  if (names.length === 0) return [];
  const [are, nodes] = names.length === 1 ? ["is", "a Kubernetes node"] : ["are", "Kubernetes nodes"];
  return [
    {
      severity: "warning",
      message: `${names.join(", ")} ${are} ${nodes} without a machine in the file, and not ready`,
      hint: `DaemonSets cannot be updated there. If the machines are gone: kubectl delete node ${names.join(" ")}`,
    },
  ];
}
