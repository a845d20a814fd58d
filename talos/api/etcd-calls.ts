// SPDX-License-Identifier: Apache-2.0
import { MachineServiceService as service } from "./gen/machine/machine.ts";
import { ask, messagesOf, onlyMessage } from "./replies.ts";
import type { CallOptions, Transport } from "./transport.ts";

export interface EtcdMemberInfo {
  /** 64 bits, hexadecimal, as talosctl and etcdctl print it. */
  readonly id: string;
  readonly hostname: string;
  readonly peerUrls: readonly string[];
  readonly clientUrls: readonly string[];
  readonly learner: boolean;
}

export interface EtcdStatus {
  readonly memberId: string;
  /** "0" while there is none. */
  readonly leaderId: string;
  readonly learner: boolean;
  readonly errors: readonly string[];
  /** Bytes of the database file, and of them those that hold data. */
  readonly dbSize: number;
  readonly dbSizeInUse: number;
  readonly raftIndex: bigint;
  readonly raftTerm: bigint;
  readonly raftAppliedIndex: bigint;
  /** Empty of an etcd that does not say them. */
  readonly protocolVersion: string;
  readonly storageVersion: string;
}

/** etcd of a control plane, through the main service. */
export function etcdCalls(transport: Transport) {
  return {
    /** `local`: ask the machine's own etcd rather than any. */
    async etcdMemberList(options: CallOptions & { readonly local?: boolean } = {}): Promise<EtcdMemberInfo[]> {
      const { local = false, ...call } = options;
      return (await ask(transport, service.etcdMemberList, { queryLocal: local }, call)).members.map((member) => ({
        id: member.id.toString(16),
        hostname: member.hostname,
        peerUrls: member.peerUrls,
        clientUrls: member.clientUrls,
        learner: member.isLearner,
      }));
    },
    async etcdStatus(options: CallOptions = {}): Promise<EtcdStatus> {
      const { memberStatus: status } = await ask(transport, service.etcdStatus, {}, options);
      return {
        memberId: (status?.memberId ?? 0n).toString(16),
        leaderId: (status?.leader ?? 0n).toString(16),
        learner: status?.isLearner ?? false,
        errors: status?.errors ?? [],
        dbSize: Number(status?.dbSize ?? 0n),
        dbSizeInUse: Number(status?.dbSizeInUse ?? 0n),
        raftIndex: status?.raftIndex ?? 0n,
        raftTerm: status?.raftTerm ?? 0n,
        raftAppliedIndex: status?.raftAppliedIndex ?? 0n,
        protocolVersion: status?.protocolVersion ?? "",
        storageVersion: status?.storageVersion ?? "",
      };
    },
    async etcdLeave(options: CallOptions = {}): Promise<void> {
      await ask(transport, service.etcdLeaveCluster, {}, { deadline: 60_000, ...options });
    },
    /** Name of the new leader; undefined when this machine did not lead. */
    async etcdForfeitLeadership(options: CallOptions = {}): Promise<string | undefined> {
      return (
        (await ask(transport, service.etcdForfeitLeadership, {}, { deadline: 30_000, ...options })).member || undefined
      );
    },
    /** Gives freed space of this member's database back to the disk. etcd on it answers nothing meanwhile. */
    async etcdDefragment(options: CallOptions = {}): Promise<void> {
      await ask(transport, service.etcdDefragment, {}, { deadline: 120_000, ...options });
    },
    async etcdRemoveMember(id: string, options: CallOptions = {}): Promise<void> {
      const request = { memberId: BigInt(`0x${id}`) };
      await ask(transport, service.etcdRemoveMemberById, request, { deadline: 30_000, ...options });
    },
    /** The snapshot in chunks as they come: database, then its SHA-256. Nothing is kept in memory. */
    async *etcdSnapshot(options: CallOptions = {}): AsyncIterable<Uint8Array> {
      for await (const { bytes } of messagesOf(transport, service.etcdSnapshot, {}, options)) yield bytes;
    },
    /** Uploads a snapshot that a following bootstrap with `recoverEtcd` starts from. */
    async etcdRecover(chunks: AsyncIterable<Uint8Array>, options: CallOptions = {}): Promise<void> {
      const requests = async function* () {
        for await (const bytes of chunks) yield { metadata: undefined, bytes };
      };
      const reply = await transport.clientStream(service.etcdRecover, requests(), options);
      onlyMessage(reply.messages, transport);
    },
  };
}

export type EtcdCalls = ReturnType<typeof etcdCalls>;
