// SPDX-License-Identifier: Apache-2.0

/** What lies in /var/lib/etcd of one machine. */
export interface EtcdData {
  readonly memberId: string;
}

export interface EtcdMember {
  /** 16 hex digits. */
  readonly id: string;
  /** The simulated machine behind it. */
  readonly machine: string;
  readonly name: string;
  readonly address: string;
  readonly learner: boolean;
  readonly joinedAt: number;
}

export interface EtcdCluster {
  readonly members: readonly EtcdMember[];
  /** Member id; absent while there is no quorum or an election runs. */
  readonly leader?: string;
  /** An election ends at this time. */
  readonly electionUntil?: number;
  readonly term: number;
  /** The minor version that a downgrade was enabled for, such as 3.5. */
  readonly downgrade?: string;
  /** Grows with every change of membership and every Kubernetes write. */
  readonly index: number;
}
