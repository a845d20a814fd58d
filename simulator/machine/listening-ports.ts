// SPDX-License-Identifier: Apache-2.0
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
  const ports: ListeningPort[] = [];
  if (serverModeOf(machine) !== "none") ports.push(port(50_000, "apid"));
  if (runs("trustd")) ports.push(port(50_001, "trustd"));
  if (runs("etcd")) ports.push(port(2_379, "etcd"), port(2_380, "etcd"));
  if (runs("kubelet"))
    ports.push(port(7_445, "machined", true), port(10_248, "kubelet", true), port(10_250, "kubelet"));
  if (staticPods) ports.push(port(6_443, "kube-apiserver"));
  if (staticPods) ports.push(port(10_257, "kube-controller-manager", true), port(10_259, "kube-scheduler", true));
  return ports;
}

/** What listens on the machine's port 50000: nothing, the API without client certificates, or the API with them. */
export type ServerMode = "none" | "maintenance" | "secure";

export function serverModeOf(machine: Machine): ServerMode {
  if (machine.services.apid?.stage !== "Running") return "none";
  return machine.life.stage === "maintenance" ? "maintenance" : "secure";
}
