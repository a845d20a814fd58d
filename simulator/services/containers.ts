// SPDX-License-Identifier: Apache-2.0
import { clusterOf, hostnameOf } from "../controllers/membership.ts";
import { listObjects } from "../kubernetes/store.ts";
import type { Machine, World } from "../machine/world.ts";

export interface SimulatedContainer {
  readonly namespace: string;
  readonly id: string;
  readonly image: string;
  readonly pid: number;
  readonly status: string;
  readonly podId: string;
  readonly name: string;
}

/** Services that Talos runs as containers of its own. */
const systemContainers = ["apid", "trustd"];

/** The containers of one containerd namespace: Talos's own, or those of the pods on this node. */
export function containersOf(world: World, machine: Machine, namespace: string): readonly SimulatedContainer[] {
  if (namespace !== "k8s.io") {
    return systemContainers
      .filter((id) => machine.services[id]?.stage === "Running")
      .map((id) => ({
        namespace,
        id,
        image: `talos/${id}`,
        pid: machine.services[id]?.pid ?? 0,
        status: "RUNNING",
        podId: id,
        name: id,
      }));
  }
  const node = hostnameOf(machine);
  return listObjects(clusterOf(world, machine), "pods").flatMap((pod) => {
    const spec = pod.spec as { nodeName?: string; containers?: readonly { name: string; image: string }[] } | undefined;
    if (spec?.nodeName !== node) return [];
    const podId = `${pod.metadata.namespace ?? ""}/${pod.metadata.name}`;
    return (spec.containers ?? []).map(({ name, image }, index) => ({
      namespace,
      id: `${podId}:${name}`,
      image,
      pid: 3_000 + index,
      status: "CONTAINER_RUNNING",
      podId,
      name,
    }));
  });
}
