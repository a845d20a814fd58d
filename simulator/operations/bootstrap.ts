// SPDX-License-Identifier: Apache-2.0
import { configOf, hostnameOf } from "../controllers/membership.ts";
import { CallError } from "../machine/call-error.ts";
import { randomHex } from "../machine/chance.ts";
import { bootstrapEtcd } from "../machine/etcd.ts";
import type { Moment } from "../machine/moment.ts";
import { minorOf } from "../machine/release.ts";
import { isHealthy } from "../machine/service-state.ts";
import { type Machine, type World, withCluster, withMachine, without } from "../machine/world.ts";
import type { SnapshotContent } from "./snapshot.ts";

export interface BootstrapInput {
  /** Reads the snapshot of this name; undefined when it is not there. @default etcd starts empty */
  readonly recover?: (snapshot: string) => SnapshotContent | undefined;
}

/** Starts a new etcd with this machine as its only member. The order of the checks is the real one. */
export function bootstrap(world: World, machine: Machine, input: BootstrapInput, moment: Moment): World {
  const config = configOf(machine);
  if (!isHealthy(machine.services.cri)) {
    throw new CallError("FailedPrecondition", "bootstrap is not available yet");
  }
  if (config?.type !== "controlplane") {
    throw minorOf(machine.talosVersion) < 1_013
      ? new CallError("FailedPrecondition", "bootstrap can only be performed on a control plane node")
      : new CallError("Unimplemented", "bootstrap is only available on control plane nodes");
  }
  if (machine.disk.etcd !== undefined) {
    throw new CallError("AlreadyExists", "etcd data directory is not empty");
  }
  const content = contentOf(machine, input);
  const cluster = world.clusters[config.clusterKey];
  if (cluster === undefined) throw new CallError("Internal", "the machine's cluster is unknown");
  const member = {
    id: randomHex(moment.entropy, 8),
    machine: machine.id,
    name: hostnameOf(machine),
    address: machine.address,
    learner: false,
    joinedAt: moment.now,
  };
  const next = withCluster(world, { key: cluster.key, kubelets: {}, ...content, etcd: bootstrapEtcd(member) });
  const disk = { ...without(machine.disk, "recovery"), etcd: { memberId: member.id } };
  return withMachine(next, { ...machine, disk, stopped: machine.stopped.filter((id) => id !== "etcd") });
}

function contentOf({ disk }: Machine, { recover }: BootstrapInput): SnapshotContent {
  if (recover === undefined) return { objects: {}, revision: 1 };
  const content = disk.recovery === undefined ? undefined : recover(disk.recovery);
  if (content !== undefined) return content;
  throw new CallError("FailedPrecondition", "etcd recover is requested but there is no snapshot");
}
