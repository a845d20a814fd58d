// SPDX-License-Identifier: Apache-2.0
// What is known about Talos releases: data only; `Contract` and `TalosVersion` answer questions about it.
// Facts are read from the Go modules github.com/siderolabs/talos/pkg/machinery (constants, compatibility, config) and
// github.com/siderolabs/talos (pkg, CHANGELOG.md), of the release that `newest` names; the file stands behind each.

/** What one Talos minor release ships and accepts. Minor numbers are of the 1.x series, for Talos and Kubernetes alike. */
export interface Release {
  readonly minor: number;
  /** Day of the first stable release, v1.<minor>.0. */
  readonly released: string;
  /** Newest known patch release, for which the facts below are. */
  readonly newest: string;
  readonly defaultKubernetes: string;
  readonly oldestKubernetesMinor: number;
  readonly newestKubernetesMinor: number;
  /** Oldest Talos minor that can be upgraded to this one. */
  readonly upgradableFromMinor: number;
  /** Talos minors from this one on cannot be downgraded to this release. */
  readonly downgradableBelowMinor: number;
  /** Oldest config contract that it accepts; the newest is its own. */
  readonly oldestContractMinor: number;
  readonly etcd: string;
  readonly coredns: string;
  readonly flannel: string;
  readonly pause: string;
  /** Flannel's network policies; older releases have none. */
  readonly networkPolicies?: string;
}

/** The release that is used when nobody names one; written here and nowhere else. */
export const defaultRelease = "v1.13.9";

/** Rewritten by `npm run refresh:releases`, line by line: value, then where it comes from. Oldest first. */
export const releases: readonly [Release, ...Release[]] = [
  {
    minor: 9,
    released: "2024-12-17", // talos CHANGELOG.md
    newest: "v1.9.6", // go list -m
    defaultKubernetes: "1.32.4", // constants/constants.go: DefaultKubernetesVersion
    oldestKubernetesMinor: 27, // compatibility: MinimumKubernetesVersion
    newestKubernetesMinor: 32, // compatibility: MaximumKubernetesVersion
    upgradableFromMinor: 8, // compatibility: MinimumHostUpgradeVersion
    downgradableBelowMinor: 11, // compatibility: MaximumHostDowngradeVersion
    oldestContractMinor: 9, // talosctl validate; no field was removed since
    etcd: "gcr.io/etcd-development/etcd:v3.5.21", // constants/constants.go: EtcdImage, DefaultEtcdVersion
    coredns: "registry.k8s.io/coredns/coredns:v1.12.0", // constants/constants.go: CoreDNSImage, DefaultCoreDNSVersion
    flannel: "ghcr.io/siderolabs/flannel:v0.26.5", // constants/constants.go: FlannelVersion
    pause: "registry.k8s.io/pause:3.10", // talos pkg/images/list.go: DefaultSandboxImage
  },
  {
    minor: 10,
    released: "2025-04-30", // talos CHANGELOG.md
    newest: "v1.10.9", // go list -m
    defaultKubernetes: "1.33.6", // constants/constants.go: DefaultKubernetesVersion
    oldestKubernetesMinor: 28, // compatibility: MinimumKubernetesVersion
    newestKubernetesMinor: 33, // compatibility: MaximumKubernetesVersion
    upgradableFromMinor: 8, // compatibility: MinimumHostUpgradeVersion
    downgradableBelowMinor: 12, // compatibility: MaximumHostDowngradeVersion
    oldestContractMinor: 9, // talosctl validate; no field was removed since
    etcd: "gcr.io/etcd-development/etcd:v3.5.26", // constants/constants.go: EtcdImage, DefaultEtcdVersion
    coredns: "registry.k8s.io/coredns/coredns:v1.12.1", // constants/constants.go: CoreDNSImage, DefaultCoreDNSVersion
    flannel: "ghcr.io/siderolabs/flannel:v0.26.7", // constants/constants.go: FlannelVersion
    pause: "registry.k8s.io/pause:3.10", // talos pkg/images/list.go: DefaultSandboxImage
  },
  {
    minor: 11,
    released: "2025-09-01", // talos CHANGELOG.md
    newest: "v1.11.6", // go list -m
    defaultKubernetes: "1.34.1", // constants/constants.go: DefaultKubernetesVersion
    oldestKubernetesMinor: 29, // compatibility: MinimumKubernetesVersion
    newestKubernetesMinor: 34, // compatibility: MaximumKubernetesVersion
    upgradableFromMinor: 9, // compatibility: MinimumHostUpgradeVersion
    downgradableBelowMinor: 13, // compatibility: MaximumHostDowngradeVersion
    oldestContractMinor: 9, // talosctl validate; no field was removed since
    etcd: "gcr.io/etcd-development/etcd:v3.6.5", // constants/constants.go: EtcdImage, DefaultEtcdVersion
    coredns: "registry.k8s.io/coredns/coredns:v1.12.4", // constants/constants.go: CoreDNSImage, DefaultCoreDNSVersion
    flannel: "ghcr.io/siderolabs/flannel:v0.27.4", // constants/constants.go: FlannelVersion
    pause: "registry.k8s.io/pause:3.10", // talos pkg/images/list.go: DefaultSandboxImage
  },
  {
    minor: 12,
    released: "2025-12-22", // talos CHANGELOG.md
    newest: "v1.12.11", // go list -m
    defaultKubernetes: "1.35.4", // constants/constants.go: DefaultKubernetesVersion
    oldestKubernetesMinor: 30, // compatibility: MinimumKubernetesVersion
    newestKubernetesMinor: 35, // compatibility: MaximumKubernetesVersion
    upgradableFromMinor: 10, // compatibility: MinimumHostUpgradeVersion
    downgradableBelowMinor: 14, // compatibility: MaximumHostDowngradeVersion
    oldestContractMinor: 9, // talosctl validate; no field was removed since
    etcd: "registry.k8s.io/etcd:v3.6.11", // constants/constants.go: EtcdImage, DefaultEtcdVersion
    coredns: "registry.k8s.io/coredns/coredns:v1.14.2", // constants/constants.go: CoreDNSImage, DefaultCoreDNSVersion
    flannel: "ghcr.io/siderolabs/flannel:v0.27.4", // constants/constants.go: FlannelVersion
    pause: "registry.k8s.io/pause:3.10.1", // talos pkg/images/list.go: DefaultSandboxImage
  },
  {
    minor: 13,
    released: "2026-04-27", // talos CHANGELOG.md
    newest: "v1.13.9", // go list -m
    defaultKubernetes: "1.36.3", // constants/constants.go: DefaultKubernetesVersion
    oldestKubernetesMinor: 31, // compatibility: MinimumKubernetesVersion
    newestKubernetesMinor: 36, // compatibility: MaximumKubernetesVersion
    upgradableFromMinor: 11, // compatibility: MinimumHostUpgradeVersion
    downgradableBelowMinor: 15, // compatibility: MaximumHostDowngradeVersion
    oldestContractMinor: 9, // talosctl validate; no field was removed since
    etcd: "registry.k8s.io/etcd:v3.6.12", // constants/constants.go: EtcdImage, DefaultEtcdVersion
    coredns: "registry.k8s.io/coredns/coredns:v1.14.6", // constants/constants.go: CoreDNSImage, DefaultCoreDNSVersion
    flannel: "ghcr.io/siderolabs/flannel:0.28.8", // constants/constants.go: FlannelVersion
    pause: "registry.k8s.io/pause:3.10.1", // talos pkg/images/list.go: DefaultSandboxImage
    networkPolicies: "registry.k8s.io/networking/kube-network-policies:v1.1.0", // constants/constants.go: KubeNetworkPoliciesVersion
  },
  {
    minor: 14,
    released: "2026-09-03", // talos CHANGELOG.md
    newest: "v1.14.1", // go list -m
    defaultKubernetes: "1.37.0", // constants/constants.go: DefaultKubernetesVersion
    oldestKubernetesMinor: 32, // compatibility: MinimumKubernetesVersion
    newestKubernetesMinor: 37, // compatibility: MaximumKubernetesVersion
    upgradableFromMinor: 12, // compatibility: MinimumHostUpgradeVersion
    downgradableBelowMinor: 16, // compatibility: MaximumHostDowngradeVersion
    oldestContractMinor: 9, // talosctl validate; no field was removed since
    etcd: "registry.k8s.io/etcd:3.7.1", // constants/constants.go: EtcdImage, DefaultEtcdVersion
    coredns: "registry.k8s.io/coredns/coredns:v1.14.7", // constants/constants.go: CoreDNSImage, DefaultCoreDNSVersion
    flannel: "ghcr.io/siderolabs/flannel:0.28.9", // constants/constants.go: FlannelVersion
    pause: "registry.k8s.io/pause:3.10.2", // talos pkg/images/list.go: DefaultSandboxImage
    networkPolicies: "registry.k8s.io/networking/kube-network-policies:v1.1.1", // constants/constants.go: KubeNetworkPoliciesVersion
  },
];

export const oldestRelease = releases[0];
export const newestRelease = releases.at(-1) ?? oldestRelease;
export const knownRange = `1.${oldestRelease.minor} to 1.${newestRelease.minor}`;

/** Contracts or releases that have something: from this minor on, or up to that one. */
export interface Span {
  readonly from?: number;
  readonly to?: number;
  /** What it is, as the page of supported versions says it. */
  readonly means: string;
}

/**
 * Where contracts differ in what they write. The function of the machinery's config/contract.go that decides it, or the
 * chapter of the release's CHANGELOG.md, stands behind each.
 */
export const contractFeatures = {
  // CHANGELOG.md 1.14, "Cluster Discovery"
  urlSafeClusterId: { to: 13, means: "new cluster ids are in the URL-safe base64 alphabet" },
  // HideRBACAndKeyUsage
  legacyFeatureFlags: { to: 11, means: "`machine.features` has `rbac`, `stableHostname` and `apidCheckExtKeyUsage`" },
  // HideDisablePSP, PopulateClusterSANsFromEndpoint
  legacyApiServer: {
    to: 11,
    means: "`cluster.apiServer` has the endpoint's host in `certSANs`, and `disablePodSecurityPolicy`",
  },
  // KubeSpanMultidocConfig, in config/generate/network.go
  emptyNetworkSection: { to: 12, means: "`machine.network` is written even when it is empty" },
  // GrubUseUKICmdlineDefault
  grubUsesUkiCommandLine: { from: 12, means: "`machine.install.grubUseUKICmdline` is true" },
  // MultidocNetworkConfigSupported
  hostnameDocument: { from: 12, means: "the host name is a `HostnameConfig` document" },
  // MultidocNetworkConfigSupported, in config/generate/registry.go
  registryDocuments: { from: 12, means: "registry mirrors, credentials and TLS are documents" },
  // MultidocNetworkConfigSupported
  networkDocuments: { from: 12, means: "links, addresses, DHCP, resolvers and virtual IPs are documents" },
  // VolumeConfigEncryptionSupported
  encryptionDocuments: { from: 11, means: "keys of system volumes are in `VolumeConfig` documents" },
  // KubeSpanMultidocConfig
  kubeSpanDocument: { from: 13, means: "KubeSpan is a `KubeSpanConfig` document" },
  // MultidocKubernetesConfigSupported, UnattendedInstallConfig, DiscoveryServiceMultidocConfig, HostDNSMultidocConfig
  kubernetesDocuments: { from: 14, means: "install, discovery, host DNS and all of Kubernetes are documents" },
} as const satisfies Readonly<Record<string, Span>>;

/** Where releases differ in what they do, whatever contract their configs have. */
export const releaseFeatures = {
  // config/types/v1alpha1/v1alpha1_types.go: Args
  listsInExtraArguments: { from: 13, means: "a value of `extraArgs` may be a list" },
  // CHANGELOG.md 1.14, "Apply Configuration Modes"
  rebootsForConfig: { to: 13, means: "some config changes take effect only with a reboot" },
  // compatibility/talos_version.go: SupportsSSAManifestSync
  syncsManifestsByInventory: {
    from: 13,
    means: "bootstrap manifests are applied server-side and pruned by an inventory",
  },
  // 1.13.9 and 1.14.1 were compared by others; that 1.12 does not is what `secure-ephemeral` assumed already, not run
  mountsVarSecurely: {
    from: 13,
    to: 13,
    means: "/var is mounted with nosuid and nodev also without a `VolumeConfig` for EPHEMERAL",
  },
  // CHANGELOG.md 1.14, "Default Installer Image"
  factoryInstaller: { from: 14, means: "the default installer comes from the image factory, not from ghcr.io" },
  // imager/quirks/quirks.go: SupportsUnifiedInstaller
  platformInstaller: { from: 10, means: "the image factory has one installer per platform" },
  // api/machine/lifecycle_grpc.pb.go: LifecycleService
  clientDrivenUpgrade: { from: 13, means: "the client pulls, installs, drains and reboots in an upgrade" },
} as const satisfies Readonly<Record<string, Span>>;

/** A default that Talos changed for new clusters: a config of the older contract does not have it. */
export interface DefaultChange {
  /** Contract that brought it. */
  readonly minor: number;
  /** Kind of the document, with its name where it has one: `VolumeConfig/EPHEMERAL`. */
  readonly document: string;
  /** What it sets, as YAML on one line. */
  readonly setting: string;
  /** One sentence on what it does. */
  readonly effect: string;
  /** One sentence on what it can break. */
  readonly risk: string;
}

/** Oldest first; talosctl of 1.14.1 writes them for the contracts named, and for none before. */
export const defaultChanges: readonly DefaultChange[] = [
  {
    minor: 12, // config/contract.go: GrubUseUKICmdlineDefault
    document: "v1alpha1",
    setting: "machine: { install: { grubUseUKICmdline: true } }",
    effect: "GRUB takes the kernel arguments from the installer image.",
    risk: "machine.install.extraKernelArgs is refused; put kernel arguments into the schematic.",
  },
  {
    minor: 14, // config/generate/block.go
    document: "VolumeConfig/EPHEMERAL",
    setting: "mount: { secure: true }",
    effect: "/var is mounted with nosuid and nodev.",
    risk: "Setuid programs and device files in hostPath, emptyDir and local volumes below /var do not work.",
  },
  {
    minor: 14, // config/contract.go: FilesystemTrimEnabledByDefault
    document: "FilesystemTrimConfig",
    setting: "interval: 168h0m0s",
    effect: "Unused blocks of mounted filesystems are discarded once a week.",
    risk: "Adds load on disks that discard slowly; deleted data on them cannot be recovered.",
  },
  {
    minor: 14, // config/contract.go: WorkloadIsolationEnabledByDefault
    document: "SecurityProfileConfig",
    setting: "workloadIsolation: true",
    effect: "containerd, the kubelet and all pods run in a PID and mount namespace of their own.",
    risk: "In-tree iSCSI volumes do not work, for the kubelet cannot reach iscsid on the host; use a CSI driver.",
  },
  {
    minor: 14, // config/generate/kubernetes.go, config/types/k8s/authentication.go
    document: "KubeAuthenticationConfig",
    setting:
      "configuration: { anonymous: { enabled: true, conditions: [{ path: /livez }, { path: /readyz }, { path: /healthz }] } }",
    effect: "The Kubernetes API answers /livez, /readyz and /healthz without credentials.",
    risk: "API server arguments about authentication, such as --oidc-* and --anonymous-auth, are refused with it.",
  },
];
