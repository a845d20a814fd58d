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
import type { MachineServiceService, MessageFns } from "../../talos/api/gen/machine/machine.ts";
import { given } from "../../talos/given.ts";
import { clusterOf } from "../controllers/membership.ts";
import { CallError } from "../machine/call-error.ts";
import { etcdMemberOf, isServing } from "../machine/etcd.ts";
import { hasFault } from "../machine/fault.ts";
import { etcdVersionOf } from "../machine/release.ts";
import { type Cluster, type EtcdCluster, type EtcdMember, withCluster } from "../machine/world.ts";
import { forfeitLeadership, leaveEtcd, receiveSnapshot, removeEtcdMember } from "../operations/etcd.ts";
import { databaseSize, encodeSnapshot, hashLength, restoredSnapshot } from "../operations/snapshot.ts";
import { answer, type Call, controlPlaneOnly, type Handlers, inPieces, type Message } from "./method.ts";

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
async function servingMember(call: Call): Promise<Local> {
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

/** The handler of a method of control planes that needs an etcd that serves. */
function etcdAnswer<Q, T extends { messages: unknown[] }>(
  type: MessageFns<T>,
  api: string,
  work: (call: Call, request: Q, local: Local) => Message<T> | undefined,
): (call: Call, request: Q) => Promise<T> {
  return answer(type, async (call, request: Q) => {
    controlPlaneOnly(call, api);
    return work(call, request, await servingMember(call));
  });
}

export const etcdMethods: Handlers<typeof MachineServiceService> = {
  etcdMemberList: answer(EtcdMemberListResponse, async (call, request) => {
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
    return { legacyMembers: members.map((member) => member.hostname), members };
  }),

  etcdStatus: answer(EtcdStatusResponse, (call) => {
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
    return { memberStatus };
  }),

  etcdLeaveCluster: etcdAnswer(EtcdLeaveClusterResponse, "etcd leave", (call) => {
    call.simulation.update((world) => leaveEtcd(world, call.machine()));
  }),

  etcdRemoveMemberById: etcdAnswer(EtcdRemoveMemberByIDResponse, "etcd remove member", (call, request) => {
    const id = request.memberId.toString(16).padStart(16, "0");
    call.simulation.update((world) => removeEtcdMember(world, call.machine(), id));
  }),

  etcdForfeitLeadership: etcdAnswer(EtcdForfeitLeadershipResponse, "etcd forfeit leadership", (call) => {
    const { member } = call.simulation.act((world) => forfeitLeadership(world, call.machine()));
    return { member };
  }),

  async *etcdSnapshot(call) {
    controlPlaneOnly(call, "etcd snapshot");
    const { cluster } = await servingMember(call);
    for (const piece of snapshotOf(call, cluster)) yield* inPieces(piece);
  },

  etcdRecover: answer(EtcdRecoverResponse, async (call, requests) => {
    controlPlaneOnly(call, "etcd recover");
    if (call.machine().services.etcd?.stage !== "Preparing") {
      throw new CallError("FailedPrecondition", "etcd service is not ready for recovery yet");
    }
    const { simulation } = call;
    await simulation.snapshots.add(bytesOf(requests), (name) =>
      simulation.update((world) => receiveSnapshot(world, call.machine(), name)),
    );
    simulation.snapshots.sweep(simulation.world);
  }),

  etcdAlarmList: etcdAnswer(EtcdAlarmListResponse, "etcd alarm list", alarms),
  etcdAlarmDisarm: etcdAnswer(EtcdAlarmDisarmResponse, "etcd alarm disarm", alarms),

  etcdDefragment: answer(EtcdDefragmentResponse, (call) => {
    controlPlaneOnly(call, "etcd defragment");
    localMember(call);
  }),
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
function alarms({ simulation: { world, moment } }: Call, _request: unknown, { etcd }: Local) {
  const full = etcd.members.filter(({ machine }) => hasFault(world.machines[machine], "disk-full", moment.now));
  return {
    memberAlarms: full.map(({ id }) => ({ memberId: BigInt(`0x${id}`), alarm: EtcdMemberAlarm_AlarmType.NOSPACE })),
  };
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

/** The handler of a method of downgrades: from what etcd knows of one, and the version that is asked for, what it then knows. */
function downgrade<Q, T extends { messages: { clusterDowngrade: unknown }[] }>(
  type: MessageFns<T>,
  next: (call: Call, request: Q, current: string | undefined) => string | undefined,
): (call: Call, request: Q) => Promise<T> {
  return etcdAnswer(type, "etcd downgrade", (call, request: Q, { cluster, etcd }) => {
    const wanted = next(call, request, etcd.downgrade);
    const changed = wanted === etcd.downgrade ? etcd : given({ ...etcd, downgrade: wanted });
    call.simulation.update((world) => (changed === etcd ? world : withCluster(world, { ...cluster, etcd: changed })));
    return { clusterDowngrade: { clusterVersion: clusterVersion(call) } } as Message<T>;
  });
}

/** Refuses a version that etcd can't go back to, or while it does so already. */
function checkTarget(call: Call, target: string, current: string | undefined): void {
  requireTarget(call, target);
  if (current === undefined) return;
  throw new CallError("FailedPrecondition", "etcdserver: cluster has an ongoing downgrade job");
}

export const downgradeMethods: Handlers<typeof MachineServiceService> = {
  etcdDowngradeValidate: downgrade(EtcdDowngradeValidateResponse, (call, { version }, current) => {
    checkTarget(call, version, current);
    return current;
  }),

  etcdDowngradeEnable: downgrade(EtcdDowngradeEnableResponse, (call, { version }, current) => {
    checkTarget(call, version, current);
    return version;
  }),

  etcdDowngradeCancel: downgrade(EtcdDowngradeCancelResponse, (_call, _request, current) => {
    if (current === undefined) throw new CallError("FailedPrecondition", "etcdserver: no inflight downgrade job");
    return undefined;
  }),
};
