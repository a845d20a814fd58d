// SPDX-License-Identifier: Apache-2.0
import type { ConfigDocument } from "../document/config-file.ts";
import { type Section, sectionAt, textAt, textsAt, valueAt } from "../document/value.ts";
import { isAddress } from "./addresses.ts";
import { quoted } from "./findings.ts";

/** What a document and the v1alpha1 document must not both say. Of several conflicts of one document the first is told. */
export function conflict(document: ConfigDocument, v1alpha1: Section): string | undefined {
  switch (document.kind) {
    case "HostnameConfig":
      if (textAt(v1alpha1, "machine.network.hostname") !== "")
        return "static hostname is already set in v1alpha1 config";
      return valueAt(v1alpha1, "machine.features.stableHostname") === true
        ? "stable hostname is already set in v1alpha1 config"
        : undefined;
    case "ResolverConfig":
      return resolverConflict(v1alpha1);
    case "TimeSyncConfig":
      return timeConflict(v1alpha1);
    case "VolumeConfig":
      return volumeConflict(document.section, v1alpha1);
    default:
      return moved.find(([kind, path]) => kind === document.kind && isSet(v1alpha1, path))?.[2];
  }
}

function isSet(v1alpha1: Section, path: string): boolean {
  const value = valueAt(v1alpha1, path);
  return value !== undefined && value !== "";
}

function resolverConflict(v1alpha1: Section): string | undefined {
  const network = sectionAt(v1alpha1, "machine.network");
  const already = "is already set in v1alpha1 config";
  if (network?.has("searchDomains")) return `.machine.network.searchDomains ${already}`;
  if (textsAt(network, "nameservers").some(isAddress)) return `.machine.network.nameservers ${already}`;
  return valueAt(network, "disableSearchDomain") === true
    ? `.machine.network.disableSearchDomain ${already}`
    : undefined;
}

function timeConflict(v1alpha1: Section): string | undefined {
  const time = sectionAt(v1alpha1, "machine.time");
  const both = "in both v1alpha1 and new-style configuration";
  if (valueAt(time, "disabled") === true) return `time sync cannot be disabled ${both}`;
  if (textsAt(time, "servers").length > 0) return `time servers cannot be specified ${both}`;
  return textAt(time, "bootTimeout") === "" ? undefined : `boot timeout cannot be specified ${both}`;
}

function volumeConflict(volume: Section, v1alpha1: Section): string | undefined {
  const name = textAt(volume, "name");
  if (name !== "STATE" && name !== "EPHEMERAL") return undefined;
  if ((sectionAt(volume, "encryption")?.size ?? 0) === 0) return undefined;
  if (!isSet(v1alpha1, `machine.systemDiskEncryption.${name.toLowerCase()}`)) return undefined;
  return `system disk encryption for ${quoted(name)} is configured in both v1alpha1.Config and VolumeConfig`;
}

const already = "is already set in v1alpha1 config";
const alreadyIn = "is already set in the v1alpha1 config";
const onlyNew = (kind: string) => `Please remove it and use only the new ${kind} document to avoid conflicts`;
const beside = (kind: string) => `can't be used with ${kind} document, please remove it to avoid conflicts`;
const identity = "cluster identity is already configured in .cluster.id/.cluster.secret of the v1alpha1 config";
const network = "cluster network config in v1alpha1 config (.machine.cluster.network)";
const prism = "KubePrism config in v1alpha1 config (.machine.features.kubePrism)";
const proxy = "cluster proxy config in v1alpha1 config (.machine.cluster.proxy)";
const talosAccess = "machine.features.kubernetesTalosAPIAccess";

/** Kind, the path in the v1alpha1 document that it takes the place of, and what is said when both are there. */
const moved: readonly (readonly [kind: string, path: string, message: string])[] = [
  ["KubeSpanConfig", "machine.network.kubespan", "kubespan is already configured in v1alpha1 machine.network.kubespan"],
  ["DiscoveryIdentityConfig", "cluster.id", identity],
  ["DiscoveryIdentityConfig", "cluster.secret", identity],
  [
    "DiscoveryServiceConfig",
    "cluster.discovery",
    "discovery service is already configured in .cluster.discovery of the v1alpha1 config",
  ],
  ["KubeAdmissionControlConfig", "cluster.apiServer.admissionControl", `admission control plugin config ${already}`],
  [
    "KubeAggregatorCAConfig",
    "cluster.aggregatorCA",
    `kube-apiserver aggregator CA ${already} (.cluster.aggregatorCA), please remove it and use the new KubeAggregatorCAConfig document instead`,
  ],
  ["KubeAPIServerConfig", "cluster.apiServer", `kube-apiserver config ${already} (.cluster.apiServer)`],
  ["KubeAPIServerCAConfig", "cluster.ca", `kube-apiserver CA ${already} (.cluster.ca)`],
  ["KubeAuditPolicyConfig", "cluster.apiServer.auditPolicy", `audit policy config ${already}`],
  [
    "KubeClusterConfig",
    "cluster.clusterName",
    `cluster name ${alreadyIn} (.cluster.clusterName). ${onlyNew("KubeClusterConfig")}`,
  ],
  [
    "KubeClusterConfig",
    "cluster.controlPlane.endpoint",
    `cluster endpoint ${alreadyIn} (.cluster.controlPlane.endpoint). ${onlyNew("KubeClusterConfig")}`,
  ],
  [
    "KubeControllerManagerConfig",
    "cluster.controllerManager",
    `kube-controller-manager config ${already} (.cluster.controllerManager)`,
  ],
  ["KubeCoreDNSConfig", "cluster.coreDNS", `CoreDNS config ${already} (.cluster.coreDNS)`],
  ["KubeEtcdEncryptionConfig", "cluster.secretboxEncryptionSecret", `etcd encryption config ${already}`],
  ["KubeEtcdEncryptionConfig", "cluster.aescbcEncryptionSecret", `etcd encryption config ${already}`],
  ["KubeFlannelCNIConfig", "cluster.network", `${network} ${beside("KubeFlannelCNIConfig")}`],
  ["KubeletConfig", "machine.kubelet", `kubelet config ${already} (.machine.kubelet)`],
  ["KubePrismConfig", "machine.features.kubePrism", `${prism} ${beside("KubePrismConfig")}`],
  [
    "KubeNetworkConfig",
    "cluster.network",
    `cluster network config ${alreadyIn} (.machine.cluster.network). ${onlyNew("KubeNetworkConfig")}`,
  ],
  ...[
    "cluster.allowSchedulingOnControlPlanes",
    "machine.nodeLabels",
    "machine.nodeAnnotations",
    "machine.nodeTaints",
  ].map((path) => ["KubeNodeConfig", path, `.${path} ${already}`] as const),
  ["KubeProxyConfig", "cluster.proxy", `${proxy} ${beside("KubeProxyConfig")}`],
  ["KubeSchedulerConfig", "cluster.scheduler", `kube-scheduler config ${already} (.cluster.scheduler)`],
  ["KubeServiceAccountConfig", "cluster.serviceAccount", `service account ${already} (.cluster.serviceAccount)`],
  ["KubeTalosAPIAccessConfig", talosAccess, `.${talosAccess} ${already}`],
  [
    "UnattendedInstallConfig",
    "machine.install",
    "UnattendedInstallConfig config is incompatible with v1alpha1 config (.machine.install)",
  ],
  [
    "CRIBaseRuntimeSpecConfig",
    "machine.baseRuntimeSpecOverrides",
    "base runtime spec overrides are already set in v1alpha1 config",
  ],
  ["ImageCacheConfig", "machine.features.imageCache", `image cache config ${already}`],
  [
    "KubeCredentialProviderConfig",
    "machine.kubelet",
    "cannot use KubeCredentialProviderConfig with legacy kubelet configuration (.machine.kubelet)",
  ],
];
