// SPDX-License-Identifier: Apache-2.0
import type { Entropy } from "../../talos/clock.ts";
import type { World } from "./world.ts";

/**
 * How long things take, in milliseconds. Real machines need minutes; the defaults keep the order and the proportions
 * but bring a machine from power-on to a ready node in well under two seconds.
 */
export interface Timings {
  /** Firmware to kernel, after power-on, install or reset. */
  readonly start: number;
  /** The same after a reboot or upgrade. talosctl looks again after a second and must find the machine still down. */
  readonly reboot: number;
  /** Writing the system to disk. */
  readonly install: number;
  /** Stopping services before a reboot, shutdown, reset or upgrade; the API still answers. */
  readonly stop: number;
  /** Each service, from start to healthy. */
  readonly service: number;
  /** An etcd member from start to healthy, and a learner from joined to promoted. */
  readonly etcd: number;
  readonly promote: number;
  /** How long a graceful reset tries to leave etcd before it gives up. */
  readonly etcdLeave: number;
  /** Choosing a new leader. */
  readonly election: number;
  /** Control plane pods, from etcd healthy to answering. */
  readonly staticPods: number;
  /** From a registered node to a ready one. */
  readonly nodeReady: number;
  /** From a silent kubelet to a node that is not ready. */
  readonly nodeLost: number;
  /** From then until the pods of a silent node are evicted, those of daemon sets excepted. */
  readonly podEviction: number;
  /** From an eviction to the pod being gone. */
  readonly podStop: number;
  readonly podStart: number;
  /** An image pull and the installer's work during an upgrade. */
  readonly upgrade: number;
  /** Moving the shared address to another control plane. */
  readonly virtualIp: number;
}

export const defaultTimings: Timings = {
  start: 150,
  reboot: 1_500,
  install: 200,
  stop: 200,
  service: 40,
  etcd: 100,
  promote: 80,
  etcdLeave: 5_000,
  election: 150,
  staticPods: 150,
  nodeReady: 120,
  nodeLost: 1_500,
  podEviction: 3_000,
  podStop: 100,
  podStart: 80,
  upgrade: 250,
  virtualIp: 200,
};

export function scaleTimings(timings: Timings, scale: number): Timings {
  const scaled = Object.entries(timings).map(([name, value]) => [name, value * scale] as const);
  return { ...timings, ...Object.fromEntries(scaled) };
}

/** What a controller may know besides the world: the time, how long things take, and a source of chance. */
export interface Moment {
  readonly now: number;
  readonly timings: Timings;
  readonly entropy: Entropy;
}

/** One concern of the world's progress. Pure; returns the same world when there is nothing to do. */
export type Controller = (world: World, moment: Moment) => World;
