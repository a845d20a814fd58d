// SPDX-License-Identifier: Apache-2.0
import { type ConfigDocument, documentTitle } from "../document/config-file.ts";
import { isSection, type Section, sectionAt, textAt, textsAt, type Value, valueAt } from "../document/value.ts";
import { isAddress } from "./addresses.ts";
import { type Finding, quoted } from "./findings.ts";

/** What a document and the v1alpha1 document must not both say. Of several conflicts of one document the first is told. */
export function conflict(document: ConfigDocument, v1alpha1: Section): Finding | undefined {
  for (const { kind, path, isSet = isPresent, message } of moved) {
    if (kind !== document.kind || !isSet(valueAt(v1alpha1, path), document.section)) continue;
    const other = { document: documentTitle(document), path: "" };
    return { severity: "error", document: "v1alpha1", path, message, conflictsWith: other };
  }
  return volumeConflict(document, v1alpha1);
}

function volumeConflict(volume: ConfigDocument, v1alpha1: Section): Finding | undefined {
  const name = textAt(volume.section, "name");
  if (volume.kind !== "VolumeConfig" || (name !== "STATE" && name !== "EPHEMERAL")) return undefined;
  if ((sectionAt(volume.section, "encryption")?.size ?? 0) === 0) return undefined;
  const path = `machine.systemDiskEncryption.${name.toLowerCase()}`;
  if (!isPresent(valueAt(v1alpha1, path))) return undefined;
  const message = `system disk encryption for ${quoted(name)} is configured in both v1alpha1.Config and VolumeConfig`;
  const other = { document: documentTitle(volume), path: "encryption" };
  return { severity: "error", document: "v1alpha1", path, message, conflictsWith: other };
}

interface Moved {
  readonly kind: string;
  /** Of the field of the v1alpha1 document that the kind takes the place of. */
  readonly path: string;
  /** @default whether it is there at all */
  readonly isSet?: (value: Value | undefined, document: Section) => boolean;
  readonly message: string;
}

const isPresent = (value: Value | undefined): boolean => value !== undefined && value !== "";
const isTrue = (value: Value | undefined): boolean => value === true;
const isFull = (value: Value | undefined): boolean => (isSection(value) ? value.size : listLength(value)) > 0;
const isNumber = (value: Value | undefined): boolean => value !== undefined && value !== 0;
const listLength = (value: Value | undefined): number => (Array.isArray(value) ? value.length : 0);

const already = "is already set in v1alpha1 config";
const alreadyIn = "is already set in the v1alpha1 config";
const onlyNew = (kind: string) => `Please remove it and use only the new ${kind} document to avoid conflicts`;
const beside = (kind: string) => `can't be used with ${kind} document, please remove it to avoid conflicts`;
const identity = "cluster identity is already configured in .cluster.id/.cluster.secret of the v1alpha1 config";
const network = "cluster network config in v1alpha1 config (.machine.cluster.network)";
const prism = "KubePrism config in v1alpha1 config (.machine.features.kubePrism)";
const proxy = "cluster proxy config in v1alpha1 config (.machine.cluster.proxy)";
const plugins = `admission control plugin config ${already}`;
const bothTimes = "in both v1alpha1 and new-style configuration";

/** In the order in which Talos looks. */
const moved: readonly Moved[] = [
  {
    kind: "HostnameConfig",
    path: "machine.network.hostname",
    message: "static hostname is already set in v1alpha1 config",
  },
  {
    kind: "HostnameConfig",
    path: "machine.features.stableHostname",
    isSet: isTrue,
    message: "stable hostname is already set in v1alpha1 config",
  },
  ...dotted("ResolverConfig", ["machine.network.searchDomains"]),
  ...dotted("ResolverConfig", ["machine.network.nameservers"], (value) =>
    textsAt(new Map([["list", value ?? null]]), "list").some(isAddress),
  ),
  ...dotted("ResolverConfig", ["machine.network.disableSearchDomain"], isTrue),
  ...dotted(
    "ResolverConfig",
    ["machine.features.hostDNS"],
    (value, document) => value !== undefined && isFull(document.get("hostDNS")),
  ),
  {
    kind: "TimeSyncConfig",
    path: "machine.time.disabled",
    isSet: isTrue,
    message: `time sync cannot be disabled ${bothTimes}`,
  },
  {
    kind: "TimeSyncConfig",
    path: "machine.time.servers",
    isSet: isFull,
    message: `time servers cannot be specified ${bothTimes}`,
  },
  {
    kind: "TimeSyncConfig",
    path: "machine.time.bootTimeout",
    message: `boot timeout cannot be specified ${bothTimes}`,
  },
  {
    kind: "KubeSpanConfig",
    path: "machine.network.kubespan",
    message: "kubespan is already configured in v1alpha1 machine.network.kubespan",
  },
  { kind: "DiscoveryIdentityConfig", path: "cluster.id", message: identity },
  { kind: "DiscoveryIdentityConfig", path: "cluster.secret", message: identity },
  {
    kind: "DiscoveryServiceConfig",
    path: "cluster.discovery",
    message: "discovery service is already configured in .cluster.discovery of the v1alpha1 config",
  },
  {
    kind: "KubeAdmissionControlConfig",
    path: "cluster.apiServer.admissionControl",
    isSet: isFull,
    message: plugins,
  },
  // Talos looks at the plugins here, too, and not at the authorizers.
  { kind: "KubeAuthorizerConfig", path: "cluster.apiServer.admissionControl", isSet: isFull, message: plugins },
  {
    kind: "KubeAggregatorCAConfig",
    path: "cluster.aggregatorCA",
    message: `kube-apiserver aggregator CA ${already} (.cluster.aggregatorCA), please remove it and use the new KubeAggregatorCAConfig document instead`,
  },
  ...named("KubeAPIServerConfig", "cluster.apiServer", "kube-apiserver config"),
  ...named("KubeAPIServerConfig", "cluster.controlPlane.localAPIServerPort", "kube-apiserver API port", isNumber),
  ...named("KubeAPIServerCAConfig", "cluster.ca", "kube-apiserver CA"),
  {
    kind: "KubeAuditPolicyConfig",
    path: "cluster.apiServer.auditPolicy",
    isSet: isFull,
    message: `audit policy config ${already}`,
  },
  {
    kind: "KubeClusterConfig",
    path: "cluster.clusterName",
    message: `cluster name ${alreadyIn} (.cluster.clusterName). ${onlyNew("KubeClusterConfig")}`,
  },
  {
    kind: "KubeClusterConfig",
    path: "cluster.controlPlane.endpoint",
    message: `cluster endpoint ${alreadyIn} (.cluster.controlPlane.endpoint). ${onlyNew("KubeClusterConfig")}`,
  },
  ...named("KubeControllerManagerConfig", "cluster.controllerManager", "kube-controller-manager config"),
  {
    kind: "KubeControllerManagerConfig",
    path: "machine.controlPlane.controllerManager",
    message: `kube-controller-manager config ${already} (.machine.controlplane.controllerManager)`,
  },
  ...named("KubeCoreDNSConfig", "cluster.coreDNS", "CoreDNS config"),
  ...["cluster.secretboxEncryptionSecret", "cluster.aescbcEncryptionSecret"].map((path) => ({
    kind: "KubeEtcdEncryptionConfig",
    path,
    message: `etcd encryption config ${already}`,
  })),
  { kind: "KubeFlannelCNIConfig", path: "cluster.network", message: `${network} ${beside("KubeFlannelCNIConfig")}` },
  ...named("KubeletConfig", "machine.kubelet", "kubelet config"),
  { kind: "KubePrismConfig", path: "machine.features.kubePrism", message: `${prism} ${beside("KubePrismConfig")}` },
  {
    kind: "KubeNetworkConfig",
    path: "cluster.network",
    message: `cluster network config ${alreadyIn} (.machine.cluster.network). ${onlyNew("KubeNetworkConfig")}`,
  },
  ...dotted("KubeNodeConfig", [
    "cluster.allowSchedulingOnControlPlanes",
    "cluster.allowSchedulingOnMasters",
    "machine.kubelet.skipNodeRegistration",
    "machine.kubelet.registerWithFQDN",
    "machine.kubelet.nodeIP",
    "machine.nodeLabels",
    "machine.nodeAnnotations",
    "machine.nodeTaints",
  ]),
  { kind: "KubeProxyConfig", path: "cluster.proxy", message: `${proxy} ${beside("KubeProxyConfig")}` },
  ...named("KubeSchedulerConfig", "cluster.scheduler", "kube-scheduler config"),
  {
    kind: "KubeSchedulerConfig",
    path: "machine.controlPlane.scheduler",
    message: `kube-scheduler config ${already} (.machine.controlplane.scheduler)`,
  },
  ...named("KubeServiceAccountConfig", "cluster.serviceAccount", "service account"),
  ...dotted("KubeTalosAPIAccessConfig", ["machine.features.kubernetesTalosAPIAccess"]),
  {
    kind: "UnattendedInstallConfig",
    path: "machine.install",
    message: "UnattendedInstallConfig config is incompatible with v1alpha1 config (.machine.install)",
  },
  {
    kind: "CRIBaseRuntimeSpecConfig",
    path: "machine.baseRuntimeSpecOverrides",
    message: "base runtime spec overrides are already set in v1alpha1 config",
  },
  { kind: "ImageCacheConfig", path: "machine.features.imageCache", message: `image cache config ${already}` },
  {
    kind: "KubeCredentialProviderConfig",
    path: "machine.kubelet",
    message: "cannot use KubeCredentialProviderConfig with legacy kubelet configuration (.machine.kubelet)",
  },
];

function named(kind: string, path: string, title: string, isSet?: Moved["isSet"]): readonly Moved[] {
  return [{ kind, path, message: `${title} ${already} (.${path})`, ...(isSet && { isSet }) }];
}

function dotted(kind: string, paths: readonly string[], isSet?: Moved["isSet"]): readonly Moved[] {
  return paths.map((path) => ({ kind, path, message: `.${path} ${already}`, ...(isSet && { isSet }) }));
}
