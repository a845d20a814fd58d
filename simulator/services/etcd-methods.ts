// SPDX-License-Identifier: Apache-2.0
import {
  EtcdAlarmDisarmResponse,
  EtcdAlarmListResponse,
  EtcdDefragmentResponse,
  EtcdDowngradeCancelResponse,
  EtcdDowngradeEnableResponse,
  EtcdDowngradeValidateResponse,
  EtcdForfeitLeadershipResponse,
  EtcdLeaveClusterResponse,
  EtcdMemberAlarm_AlarmType,
  EtcdMemberListResponse,
  EtcdRecoverResponse,
  EtcdRemoveMemberByIDResponse,
  EtcdStatusResponse,
} from "../../talos/api/gen/machine/etcd.ts";
import type { MachineServiceService } from "../../talos/api/gen/machine/machine.ts";
import { clusterOf } from "../controllers/membership.ts";
import { CallError } from "../machine/call-error.ts";
import { etcdMemberOf, isServing } from "../machine/etcd.ts";
import { faultOf } from "../machine/fault.ts";
import { etcdVersionOf } from "../machine/release.ts";
import { type Cluster, type EtcdCluster, type EtcdMember, withCluster, without } from "../machine/world.ts";
import { forfeitLeadership, leaveEtcd, receiveSnapshot, removeEtcdMember } from "../operations/etcd.ts";
import { databaseSize, encodeSnapshot, hashLength, restoredSnapshot } from "../operations/snapshot.ts";
import { type Call, controlPlaneOnly, type Handlers, inPieces } from "./method.ts";

/** How long etcd's own client waits for a cluster without a leader. */
const noLeaderPatience = 5_000;

interface Local {
  readonly cluster: Cluster;
  readonly etcd: EtcdCluster;
  readonly member: EtcdMember;
}

/** The member on this machine; fails as Talos does when etcd does not run here. */
function localMember(call: Call): Local {
  const machine = call.machine();
  const cluster = clusterOf(call.world(), machine);
  const member = etcdMemberOf(cluster, machine.id);
  if (cluster?.etcd === undefined || member === undefined || machine.services.etcd?.stage !== "Running") {
    throw new CallError("Unavailable", "error building etcd client: etcd is not running on this node");
  }
  return { cluster, etcd: cluster.etcd, member };
}

/** Waits a little for a leader: without one etcd can neither change nor read with certainty. */
export async function servingMember(call: Call): Promise<Local> {
  const local = localMember(call);
  if (isServing(call.world(), local.cluster)) return local;
  const patience = AbortSignal.any([call.signal, timeoutSignal(call, noLeaderPatience)]);
  const served = await call.simulation.until((world) => isServing(world, clusterOf(world, call.machine())), patience);
  if (!served) throw new CallError("Unavailable", "etcdserver: no leader");
  return localMember(call);
}

function timeoutSignal(call: Call, milliseconds: number): AbortSignal {
  const controller = new AbortController();
  call.simulation.scheduler.at(call.simulation.scheduler.now() + milliseconds, () => controller.abort());
  return controller.signal;
}

export const etcdMethods: Handlers<typeof MachineServiceService> = {
  async etcdMemberList(call, request) {
    controlPlaneOnly(call, "member list");
    const { etcd } = request.queryLocal ? localMember(call) : await servingMember(call);
    const members = etcd.members.map((member) => ({
      id: BigInt(`0x${member.id}`),
      hostname: member.name,
      peerUrls: [`https://${member.address}:2380`],
      clientUrls: [`https://${member.address}:2379`],
      isLearner: member.learner,
    }));
    members.sort((a, b) => (a.id < b.id ? -1 : 1));
    return EtcdMemberListResponse.fromPartial({
      messages: [{ legacyMembers: members.map((member) => member.hostname), members }],
    });
  },

  etcdStatus(call) {
    controlPlaneOnly(call, "etcd status");
    const { cluster, etcd, member } = localMember(call);
    const { restored } = cluster;
    const size =
      restored === undefined ? databaseSize(cluster) : call.simulation.snapshots.size(restored.snapshot) - hashLength;
    const index = BigInt(etcd.index + cluster.revision);
    const version = etcdVersionOf(call.machine().talosVersion);
    const memberStatus = {
      memberId: BigInt(`0x${member.id}`),
      protocolVersion: version,
      storageVersion: version.replace(/\.\d+$/, ".0"),
      dbSize: BigInt(size),
      dbSizeInUse: BigInt(size),
      leader: etcd.leader === undefined ? 0n : BigInt(`0x${etcd.leader}`),
      raftIndex: index,
      raftAppliedIndex: index,
      raftTerm: BigInt(etcd.term),
      isLearner: member.learner,
      errors: etcd.leader === undefined ? ["etcdserver: no leader"] : [],
    };
    return EtcdStatusResponse.fromPartial({ messages: [{ memberStatus }] });
  },

  async etcdLeaveCluster(call) {
    controlPlaneOnly(call, "etcd leave");
    await servingMember(call);
    call.simulation.update((world) => leaveEtcd(world, call.machine()));
    return EtcdLeaveClusterResponse.fromPartial({ messages: [{}] });
  },

  async etcdRemoveMemberById(call, request) {
    controlPlaneOnly(call, "etcd remove member");
    await servingMember(call);
    const id = request.memberId.toString(16).padStart(16, "0");
    call.simulation.update((world) => removeEtcdMember(world, call.machine(), id));
    return EtcdRemoveMemberByIDResponse.fromPartial({ messages: [{}] });
  },

  async etcdForfeitLeadership(call) {
    controlPlaneOnly(call, "etcd forfeit leadership");
    await servingMember(call);
    const { member } = call.simulation.act((world) => forfeitLeadership(world, call.machine()));
    return EtcdForfeitLeadershipResponse.fromPartial({ messages: [{ member }] });
  },

  async *etcdSnapshot(call) {
    controlPlaneOnly(call, "etcd snapshot");
    const { cluster } = await servingMember(call);
    for (const piece of snapshotOf(call, cluster)) yield* inPieces(piece);
  },

  async etcdRecover(call, requests) {
    controlPlaneOnly(call, "etcd recover");
    if (call.machine().services.etcd?.stage !== "Preparing") {
      throw new CallError("FailedPrecondition", "etcd service is not ready for recovery yet");
    }
    const { simulation } = call;
    await simulation.snapshots.add(bytesOf(requests), (name) =>
      simulation.update((world) => receiveSnapshot(world, call.machine(), name)),
    );
    simulation.snapshots.sweep(simulation.world);
    return EtcdRecoverResponse.fromPartial({ messages: [{}] });
  },

  async etcdAlarmList(call) {
    controlPlaneOnly(call, "etcd alarm list");
    const { etcd } = await servingMember(call);
    return EtcdAlarmListResponse.fromPartial({ messages: [{ memberAlarms: alarmsOf(call, etcd) }] });
  },

  async etcdAlarmDisarm(call) {
    controlPlaneOnly(call, "etcd alarm disarm");
    const { etcd } = await servingMember(call);
    return EtcdAlarmDisarmResponse.fromPartial({ messages: [{ memberAlarms: alarmsOf(call, etcd) }] });
  },

  etcdDefragment(call) {
    controlPlaneOnly(call, "etcd defragment");
    localMember(call);
    return EtcdDefragmentResponse.fromPartial({ messages: [{}] });
  },
};

/** What etcd holds. */
function* snapshotOf({ simulation }: Call, cluster: Cluster): Iterable<Uint8Array> {
  const { restored } = cluster;
  if (restored === undefined) yield encodeSnapshot(cluster);
  else yield* simulation.snapshots.stream(restored.snapshot, (file) => restoredSnapshot(cluster, file));
}

async function* bytesOf(requests: AsyncIterable<{ readonly bytes: Uint8Array }>): AsyncIterable<Uint8Array> {
  for await (const { bytes } of requests) yield bytes;
}

/** A member whose disk is full raises an alarm, again after every disarming while the disk stays full. */
function alarmsOf(
  call: Call,
  etcd: EtcdCluster,
): { readonly memberId: bigint; readonly alarm: EtcdMemberAlarm_AlarmType }[] {
  const { world, moment } = call.simulation;
  return etcd.members
    .filter(({ machine }) => faultOf(world.machines[machine]?.faults ?? [], "disk-full", moment.now) !== undefined)
    .map(({ id }) => ({ memberId: BigInt(`0x${id}`), alarm: EtcdMemberAlarm_AlarmType.NOSPACE }));
}

/** The version that the members agree on: major and minor. */
function clusterVersion(call: Call): string {
  return etcdVersionOf(call.machine().talosVersion).split(".").slice(0, 2).join(".");
}

/** etcd goes back by one minor version only. */
function requireTarget(call: Call, target: string): void {
  const [, major = "", minor = ""] = /^(\d+)\.(\d+)/.exec(target) ?? [];
  if (major === "") throw new CallError("InvalidArgument", `failed to parse version "${target}"`);
  if (Number(major) < 3 || (Number(major) === 3 && Number(minor) < 5)) {
    throw new CallError("InvalidArgument", "etcd downgrade is only supported to 3.5 and later versions");
  }
  const [ours = 0, current = 0] = clusterVersion(call).split(".").map(Number);
  if (Number(major) !== ours || Number(minor) !== current - 1) {
    throw new CallError("FailedPrecondition", "etcdserver: invalid downgrade target version");
  }
}

async function check(call: Call, target: string): Promise<void> {
  controlPlaneOnly(call, "etcd downgrade");
  const { etcd } = await servingMember(call);
  requireTarget(call, target);
  if (etcd.downgrade !== undefined) {
    throw new CallError("FailedPrecondition", "etcdserver: cluster has an ongoing downgrade job");
  }
}

async function change(call: Call, edit: (etcd: EtcdCluster) => EtcdCluster): Promise<void> {
  const { cluster, etcd } = await servingMember(call);
  call.simulation.update((world) => withCluster(world, { ...cluster, etcd: edit(etcd) }));
}

export const downgradeMethods: Handlers<typeof MachineServiceService> = {
  async etcdDowngradeValidate(call, { version }) {
    await check(call, version);
    const clusterDowngrade = { clusterVersion: clusterVersion(call) };
    return EtcdDowngradeValidateResponse.fromPartial({ messages: [{ clusterDowngrade }] });
  },

  async etcdDowngradeEnable(call, { version }) {
    await check(call, version);
    await change(call, (etcd) => ({ ...etcd, downgrade: version }));
    const clusterDowngrade = { clusterVersion: clusterVersion(call) };
    return EtcdDowngradeEnableResponse.fromPartial({ messages: [{ clusterDowngrade }] });
  },

  async etcdDowngradeCancel(call) {
    controlPlaneOnly(call, "etcd downgrade");
    const { etcd } = await servingMember(call);
    if (etcd.downgrade === undefined) {
      throw new CallError("FailedPrecondition", "etcdserver: no inflight downgrade job");
    }
    await change(call, (known) => without(known, "downgrade"));
    const clusterDowngrade = { clusterVersion: clusterVersion(call) };
    return EtcdDowngradeCancelResponse.fromPartial({ messages: [{ clusterDowngrade }] });
  },
};
