// SPDX-License-Identifier: Apache-2.0
import { etcdView, type ObservedCluster, quorumOf } from "../engine/index.ts";

export interface EtcdFacts {
  readonly members: number;
  readonly voters: number;
  /** Voters whose own machine says that they are well. */
  readonly healthy: number;
  readonly quorum: number;
  /** Host names of the members. */
  readonly names: readonly string[];
}

/** etcd as the best informed member tells it; undefined while none answers. A cordon makes no member unhealthy. */
export function etcdFacts(observed: ObservedCluster): EtcdFacts | undefined {
  const view = etcdView(observed);
  if (view === undefined) return undefined;
  const voters = view.members.filter(({ learner }) => !learner);
  const well = new Set(
    [...observed.machines.values()].flatMap(({ state }) =>
      state.kind === "configured" && state.etcd?.healthy && state.etcd.memberId !== undefined
        ? [state.etcd.memberId]
        : [],
    ),
  );
  return {
    members: view.members.length,
    voters: voters.length,
    healthy: voters.filter(({ id }) => well.has(id)).length,
    quorum: quorumOf(voters.length),
    names: view.members.map(({ hostname }) => hostname),
  };
}
