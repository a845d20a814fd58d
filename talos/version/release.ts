// SPDX-License-Identifier: Apache-2.0

/** What one Talos minor release ships and accepts. Minor numbers are of the 1.x series, for Talos and Kubernetes alike. */
export interface Release {
  readonly minor: number;
  /** Newest known patch release, used when only a minor is named. */
  readonly newest: string;
  readonly defaultKubernetes: string;
  readonly oldestKubernetesMinor: number;
  readonly newestKubernetesMinor: number;
  /** Oldest Talos minor that can be upgraded to this one. */
  readonly upgradableFromMinor: number;
  /** Talos minors from this one on cannot be downgraded to this release. */
  readonly downgradableBelowMinor: number;
  readonly etcd: string;
  readonly coredns: string;
  readonly flannel: string;
  readonly pause: string;
  /** Flannel's network policies; older releases have none. */
  readonly networkPolicies?: string;
}

/** The release that is used when nobody names one; written here and nowhere else. */
export const defaultRelease = "v1.13.9";

export const releases: readonly Release[] = [
  {
    minor: 9,
    newest: "v1.9.6",
    defaultKubernetes: "1.32.4",
    oldestKubernetesMinor: 27,
    newestKubernetesMinor: 32,
    upgradableFromMinor: 8,
    downgradableBelowMinor: 11,
    etcd: "v3.5.21",
    coredns: "v1.12.0",
    flannel: "v0.26.5",
    pause: "3.10",
  },
  {
    minor: 10,
    newest: "v1.10.9",
    defaultKubernetes: "1.33.6",
    oldestKubernetesMinor: 28,
    newestKubernetesMinor: 33,
    upgradableFromMinor: 8,
    downgradableBelowMinor: 12,
    etcd: "v3.5.26",
    coredns: "v1.12.1",
    flannel: "v0.26.7",
    pause: "3.10",
  },
  {
    minor: 11,
    newest: "v1.11.6",
    defaultKubernetes: "1.34.1",
    oldestKubernetesMinor: 29,
    newestKubernetesMinor: 34,
    upgradableFromMinor: 9,
    downgradableBelowMinor: 13,
    etcd: "v3.6.5",
    coredns: "v1.12.4",
    flannel: "v0.27.4",
    pause: "3.10",
  },
  {
    minor: 12,
    newest: "v1.12.11",
    defaultKubernetes: "1.35.4",
    oldestKubernetesMinor: 30,
    newestKubernetesMinor: 35,
    upgradableFromMinor: 10,
    downgradableBelowMinor: 14,
    etcd: "v3.6.11",
    coredns: "v1.14.2",
    flannel: "v0.27.4",
    pause: "3.10.1",
  },
  {
    minor: 13,
    newest: "v1.13.9",
    defaultKubernetes: "1.36.3",
    oldestKubernetesMinor: 31,
    newestKubernetesMinor: 36,
    upgradableFromMinor: 11,
    downgradableBelowMinor: 15,
    etcd: "v3.6.12",
    coredns: "v1.14.6",
    flannel: "0.28.8",
    pause: "3.10.1",
    networkPolicies: "v1.1.0",
  },
  {
    minor: 14,
    newest: "v1.14.0-rc.1",
    defaultKubernetes: "1.37.0-rc.0",
    oldestKubernetesMinor: 32,
    newestKubernetesMinor: 37,
    upgradableFromMinor: 12,
    downgradableBelowMinor: 16,
    etcd: "3.7.1",
    coredns: "v1.14.6",
    flannel: "0.28.9",
    pause: "3.10.2",
    networkPolicies: "v1.1.1",
  },
];

export function releaseOf(minor: number): Release | undefined {
  return releases.find((release) => release.minor === minor);
}
