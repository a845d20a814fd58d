// SPDX-License-Identifier: Apache-2.0
import type { MachineState, Step } from "../../engine/index.ts";
import type { ClusterObservation } from "../../watch/index.ts";

type Machine = { readonly role?: "controlplane" | "worker"; readonly state?: MachineState };

const planes = ["cp-1", "cp-2", "cp-3"];
const members = planes.map((hostname, i) => ({ id: String(i + 1), hostname, peerUrls: [], learner: false }));

/** A machine that runs, with a healthy etcd member where it is a control plane. */
export function running(
  name: string,
  change: Partial<Extract<MachineState, { kind: "configured" }>> = {},
): MachineState {
  const id = members.find(({ hostname }) => hostname === name)?.id;
  return {
    kind: "configured",
    stage: "running",
    ready: true,
    unmet: [],
    talosVersion: "v1.13.9",
    bootId: "boot",
    ...(id === undefined ? {} : { etcd: { state: "running", healthy: true, memberId: id, leaderId: "1", members } }),
    ...change,
  };
}

export const unreachable: MachineState = { kind: "unreachable", reason: "connection refused" };

export function stepFor(machine: string, change: Partial<Step> = {}): Step {
  return {
    kind: "apply-config",
    effect: "no-reboot",
    machine,
    id: `apply-config/${machine}`,
    sentence: `apply config to ${machine} without a reboot`,
    after: [],
    destructive: false,
    ...change,
  } as Step;
}

/** Three control planes and a worker, all well, unless a machine is given another state. */
export function observedLab(
  states: Readonly<Record<string, Machine["state"]>> = {},
  change: Partial<ClusterObservation> = {},
): ClusterObservation {
  const machines = [...planes, "w-1"].map((name) => ({
    name,
    role: planes.includes(name) ? ("controlplane" as const) : ("worker" as const),
  }));
  return {
    machines,
    observed: {
      machines: new Map(
        machines.map(({ name, role }) => [name, { name, role, address: "", state: states[name] ?? running(name) }]),
      ),
      kubernetes: {
        kind: "reachable",
        nodes: machines.map(({ name, role }) => ({
          name,
          ready: true,
          unschedulable: false,
          cordonedByUs: false,
          controlPlane: role === "controlplane",
          addresses: [],
          kubeletVersion: "v1.36.3",
        })),
        components: [],
      },
    },
    steps: [],
    certificates: [{ name: "kubeconfig", expiresAt: new Date("2027-11-16T12:00:00Z"), renewable: true }],
    ...change,
  };
}
