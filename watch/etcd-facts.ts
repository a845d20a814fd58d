// SPDX-License-Identifier: Apache-2.0
import { etcdView, type ObservedCluster, quorumOf } from "../engine/index.ts";

interface EtcdFacts {
  readonly members: readonly {
    readonly id: string;
    /** Its machine's host name. */
    readonly name: string;
    readonly leader: boolean;
    readonly learner: boolean;
    /** Its machine stays up and reports that etcd is healthy. */
    readonly healthy: boolean;
  }[];
  readonly voters: number;
  /** Of the voters. */
  readonly healthy: number;
  readonly quorum: number;
}

/** etcd as its best informed member reports it; undefined while none answers. */
export function etcdFacts(observed: ObservedCluster): EtcdFacts | undefined {
  const view = etcdView(observed);
  if (view === undefined) return undefined;
  const members = view.members.map(({ id, hostname, learner }) => ({
    id,
    name: hostname,
    leader: id === view.leaderId,
    learner,
    healthy: view.healthy.has(id),
  }));
  const voters = members.filter(({ learner }) => !learner);
  const healthy = voters.filter((member) => member.healthy).length;
  return { members, voters: voters.length, healthy, quorum: quorumOf(voters.length) };
}
