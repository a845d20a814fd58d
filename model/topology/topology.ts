// SPDX-License-Identifier: Apache-2.0
import type { Role } from "../index.ts";

/** `planned` before anything was asked; the rest is what a machine was last seen to be. */
export const machineStates = ["ready", "starting", "maintenance", "unreachable", "planned"] as const;
export type MachineState = (typeof machineStates)[number];

export interface TopologyMachine {
  readonly name: string;
  readonly role: Role;
  readonly pool: string;
  /** Undefined where the infrastructure gives it later. */
  readonly address?: string;
  /** Ports that others connect to, by what they are for. */
  readonly ports: readonly { readonly port: number; readonly name: string }[];
  readonly state: MachineState;
  /** What is to be said of the state: a version, a reason. */
  readonly note?: string;
}

/** Where machines stand together and fall together: a zone, a host, this computer. */
export interface Place {
  readonly name: string;
  readonly machines: readonly TopologyMachine[];
}

/** Machines that come and go by themselves. */
export interface ElasticPool {
  readonly name: string;
  readonly min: number;
  readonly max: number;
}

/** How the Kubernetes API is reached. */
export interface Endpoint {
  /** A load balancer, a shared address, a machine … */
  readonly through: string;
  readonly name: string;
  readonly ports: readonly number[];
  /** Names of the machines behind it. */
  readonly machines: readonly string[];
}

export interface Topology {
  readonly cluster: string;
  readonly kind: string;
  readonly endpoint: Endpoint;
  readonly network?: string;
  readonly places: readonly Place[];
  readonly elastic: readonly ElasticPool[];
}

/** What a machine was seen to be, by name. */
export interface SeenMachine {
  readonly state: MachineState;
  readonly address?: string;
  readonly note?: string;
}

/** The same picture with what is there now; machines that were not seen stay as planned. */
export function withLiveState(topology: Topology, seen: ReadonlyMap<string, SeenMachine>): Topology {
  const places = topology.places.map((place) => ({
    ...place,
    machines: place.machines.map((machine) => ({ ...machine, ...seen.get(machine.name) })),
  }));
  return { ...topology, places };
}
