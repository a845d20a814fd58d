// SPDX-License-Identifier: Apache-2.0
import { serverModeOf } from "./server-mode.ts";
import type { Machine } from "./world.ts";

export interface ListeningPort {
  readonly port: number;
  /** The Talos service behind it, or the program in a static pod. */
  readonly service: string;
  /** Only for the machine itself. */
  readonly local: boolean;
}

/** The ports that are open on a machine, as they follow from what runs there. */
export function listeningPorts(machine: Machine, now: number): readonly ListeningPort[] {
  const runs = (id: string): boolean => machine.services[id]?.stage === "Running";
  const port = (number: number, service: string, local = false): ListeningPort => ({ port: number, service, local });
  const staticPods = machine.staticPodsAt !== undefined && machine.staticPodsAt <= now;
  return [
    ...(serverModeOf(machine) === "none" ? [] : [port(50_000, "apid")]),
    ...(runs("trustd") ? [port(50_001, "trustd")] : []),
    ...(runs("etcd") ? [port(2_379, "etcd"), port(2_380, "etcd")] : []),
    ...(runs("kubelet") ? [port(7_445, "machined", true), port(10_248, "kubelet", true), port(10_250, "kubelet")] : []),
    ...(staticPods
      ? [
          port(6_443, "kube-apiserver"),
          port(10_257, "kube-controller-manager", true),
          port(10_259, "kube-scheduler", true),
        ]
      : []),
  ];
}
