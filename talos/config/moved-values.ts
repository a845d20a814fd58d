// SPDX-License-Identifier: Apache-2.0
// Settings of the v1alpha1 document that newer contracts keep in documents of their own, one value to one value.

/** How the value is written at its new place. */
export type Form =
  | "same"
  /** `disabled` has become `enabled`. */
  | "inverse"
  /** Each address of a list is a section of its own. */
  | "addresses"
  /** PEM, no longer base64 of it. */
  | "pem"
  | "pem-pair";

export interface MovedValue {
  /** Its path in the v1alpha1 document. */
  readonly from: string;
  readonly kind: string;
  /** Of documents that have one. */
  readonly name?: string;
  readonly path: string;
  readonly form: Form;
}

function moved(from: string, kind: string, path: string, form: Form = "same"): MovedValue {
  return { from, kind, path, form };
}

/** Fields that keep their names. */
function fields(from: string, kind: string, names: readonly string[]): readonly MovedValue[] {
  return names.map((name) => moved(`${from}.${name}`, kind, name));
}

const node = "KubeNodeConfig";
const apiServer = "KubeAPIServerConfig";
const controllerManager = "KubeControllerManagerConfig";
const scheduler = "KubeSchedulerConfig";
const pods = ["image", "extraArgs", "env", "resources"];

export const movedValues: readonly MovedValue[] = [
  moved("cluster.id", "DiscoveryIdentityConfig", "clusterID"),
  moved("cluster.secret", "DiscoveryIdentityConfig", "clusterSecret"),
  moved("machine.install.image", "UnattendedInstallConfig", "installer.image"),
  moved("machine.install.wipe", "UnattendedInstallConfig", "provisioning.wipe"),
  ...["state", "ephemeral"].map((volume) => ({
    ...moved(`machine.systemDiskEncryption.${volume}`, "VolumeConfig", "encryption"),
    name: volume.toUpperCase(),
  })),
  moved("machine.features.imageCache.localEnabled", "ImageCacheConfig", "local.enabled"),
  moved("machine.features.hostDNS", "ResolverConfig", "hostDNS"),
  ...fields("machine.network.kubespan", "KubeSpanConfig", [
    "enabled",
    "advertiseKubernetesNetworks",
    "allowDownPeerBypass",
    "harvestExtraEndpoints",
    "mtu",
    "filters",
  ]),
  moved("machine.network.nameservers", "ResolverConfig", "nameservers", "addresses"),
  moved("machine.network.searchDomains", "ResolverConfig", "searchDomains.domains"),
  moved("machine.network.disableSearchDomain", "ResolverConfig", "searchDomains.disableDefault"),
  moved("machine.time.servers", "TimeSyncConfig", "ntp.servers"),
  moved("machine.time.bootTimeout", "TimeSyncConfig", "bootTimeout"),
  moved("machine.time.disabled", "TimeSyncConfig", "enabled", "inverse"),
  moved("machine.sysctls", "SysctlConfig", "params"),
  moved("machine.sysfs", "SysfsConfig", "params"),
  moved("machine.baseRuntimeSpecOverrides", "CRIBaseRuntimeSpecConfig", "overrides"),
  moved("machine.nodeLabels", node, "labels"),
  moved("machine.nodeAnnotations", node, "annotations"),
  moved("machine.nodeTaints", node, "taints"),
  ...fields("machine.kubelet", "KubeletConfig", [
    "image",
    "extraArgs",
    "clusterDNS",
    "defaultRuntimeSeccompProfileEnabled",
  ]),
  moved("machine.kubelet.extraConfig", "KubeletConfig", "config"),
  moved("machine.kubelet.credentialProviderConfig", "KubeCredentialProviderConfig", "configuration"),
  ...fields("machine.kubelet", node, ["nodeIP", "skipNodeRegistration", "registerWithFQDN"]),
  moved("machine.controlPlane.controllerManager.disabled", controllerManager, "enabled", "inverse"),
  moved("machine.controlPlane.scheduler.disabled", scheduler, "enabled", "inverse"),
  moved("cluster.clusterName", "KubeClusterConfig", "clusterName"),
  moved("cluster.controlPlane.endpoint", "KubeClusterConfig", "endpoint"),
  moved("cluster.controlPlane.localAPIServerPort", apiServer, "apiPort"),
  ...fields("cluster.network", "KubeNetworkConfig", ["dnsDomain", "podSubnets", "serviceSubnets"]),
  moved("cluster.aggregatorCA", "KubeAggregatorCAConfig", "issuingCA", "pem-pair"),
  moved("cluster.serviceAccount.key", "KubeServiceAccountConfig", "issuer.privateKey", "pem"),
  ...fields("cluster.apiServer", apiServer, pods),
  moved("cluster.apiServer.certSANs", apiServer, "certExtraSANs"),
  moved("cluster.apiServer.auditPolicy", "KubeAuditPolicyConfig", "configuration"),
  ...fields("cluster.controllerManager", controllerManager, pods),
  ...fields("cluster.scheduler", scheduler, [...pods, "config"]),
  ...fields("cluster.proxy", "KubeProxyConfig", ["image", "mode"]),
  moved("cluster.proxy.disabled", "KubeProxyConfig", "enabled", "inverse"),
  moved("cluster.coreDNS.image", "KubeCoreDNSConfig", "image"),
  moved("cluster.coreDNS.disabled", "KubeCoreDNSConfig", "enabled", "inverse"),
];
