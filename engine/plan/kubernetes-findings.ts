// SPDX-License-Identifier: Apache-2.0
import { parseAddress } from "../../talos/api/index.ts";
import { type ConfigData, isConfigData, type MachineConfig } from "../../talos/config/index.ts";
import { KubernetesVersion } from "../../talos/version/index.ts";
import type { DesiredCluster, DesiredMachine } from "../desired.ts";
import type { Finding } from "../events.ts";

/** What a release of Kubernetes no longer starts with. Facts of Kubernetes' changelogs, as `talosctl upgrade-k8s` has them. */
interface Removal {
  readonly release: string;
  readonly featureGates?: readonly string[];
  readonly flags?: Readonly<Partial<Record<Component, readonly string[]>>>;
  readonly admissionPlugins?: readonly string[];
}

type Component = "kube-apiserver" | "kube-controller-manager" | "kube-scheduler" | "kubelet";

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

const removals: readonly Removal[] = [
  {
    release: "1.28",
    featureGates: words(`AdvancedAuditing DelegateFSGroupToCSIDriver DevicePlugins DisableAcceleratorUsageMetrics
      EndpointSliceTerminatingCondition CSIStorageCapacity CSIMigrationGCE KubeletCredentialProviders
      MixedProtocolLBService ServiceInternalTrafficPolicy ServiceIPStaticSubrange WindowsHostProcessContainers`),
  },
  {
    release: "1.30",
    featureGates: words(`ExpandedDNSConfig ExperimentalHostUserNamespaceDefaultingGate IPTablesOwnershipCleanup
      KubeletPodResources KubeletPodResourcesGetAllocatable MinimizeIPTablesRestore ProxyTerminatingEndpoints
      RemoveSelfLink`),
    admissionPlugins: ["SecurityContextDeny"],
  },
  {
    release: "1.31",
    featureGates: words(`APIPriorityAndFairness CSINodeExpandSecret ConsistentHTTPGetHandlers
      DefaultHostNetworkHostPortsInPodTemplates ServiceNodePortStaticSubrange SkipReadOnlyValidationGCE`),
    flags: {
      kubelet: ["keep-terminated-pod-volumes", "iptables-masquerade-bit", "iptables-drop-bit"],
      "kube-controller-manager": words(`volume-host-cidr-denylist volume-host-allow-local-loopback
        horizontal-pod-autoscaler-upscale-delay horizontal-pod-autoscaler-downscale-delay`),
    },
  },
  {
    release: "1.32",
    featureGates: words(`AllowServiceLBStatusOnNonLB CloudDualStackNodeIPs DRAControlPlaneController
      HPAContainerMetrics KMSv2 KMSv2KDF LegacyServiceAccountTokenCleanUp MinDomainsInPodTopologySpread
      NewVolumeManagerReconstruction NodeOutOfServiceVolumeDetach ServerSideApply ServerSideFieldValidation
      StableLoadBalancerNodeSet ValidatingAdmissionPolicy ZeroLimitedNominalConcurrencyShares`),
  },
  {
    release: "1.33",
    featureGates: words(`AppArmor AppArmorFields CPUManager DisableCloudProviders
      DisableKubeletCloudCredentialProviders JobPodFailurePolicy KubeProxyDrainingTerminatingNodes
      PDBUnhealthyPodEvictionPolicy PersistentVolumeLastPhaseTransitionTime VolumeCapacityPriority`),
    flags: { "kube-apiserver": ["cloud-config"] },
  },
  {
    release: "1.34",
    featureGates: ["DevicePluginCDIDevices", "LegacySidecarContainers", "PodDisruptionConditions"],
    flags: { kubelet: ["cloud-config"] },
  },
  {
    release: "1.35",
    featureGates: ["SizeMemoryBackedVolumes", "UserNamespacesHostNetworkSupport"],
    flags: { kubelet: ["pod-infra-container-image"] },
  },
  {
    release: "1.36",
    featureGates: words(`CSIMigrationPortworx HonorPVReclaimPolicy InTreePluginPortworxUnregister
      WatchFromStorageWithoutResourceVersion`),
  },
];

/** A component that is started with what its release does not know any more does not come up. */
export function removalFindings({ machines, kubernetesVersion }: DesiredCluster): Finding[] {
  const target = KubernetesVersion.parse(kubernetesVersion);
  const gone = removals.filter(({ release }) => KubernetesVersion.parse(`${release}.0`).compare(target) <= 0);
  const affected = new Map<string, string[]>();
  for (const { name, config } of machines) {
    for (const { component, kind, name: item, release } of removedItems(config, gone)) {
      const message = `${component} of Kubernetes ${kubernetesVersion} has no ${kind} ${item}, it went with ${release}`;
      affected.set(message, [...(affected.get(message) ?? []), name]);
    }
  }
  return [...affected].map(([message, names]) => ({
    severity: "error",
    message: `${message}: ${names.join(", ")}`,
    hint: "Take it out of the machine config.",
  }));
}

/** The API server's certificate is for the endpoint in the config, whatever else it is for. */
export function endpointFindings({ endpoint, machines }: DesiredCluster): Finding[] {
  const host = hostOf(endpoint);
  const unnamed = machines.filter(
    ({ role, config }) => role === "controlplane" && !apiServerNames(config, machines).includes(host),
  );
  if (unnamed.length === 0) return [];
  return [
    {
      severity: "error",
      message: `the endpoint's host ${host} is not in the certificate of the Kubernetes API: ${unnamed.map(({ name }) => name).join(", ")}`,
      hint: `Add ${host} to the cluster's certSANs (cluster.apiServer.certSANs), or take the patch away that changes the endpoint.`,
    },
  ];
}

/**
 * What the certificate of the Kubernetes API will be for, as far as a control plane's config decides it: the endpoint,
 * the extra names, and the machine's own address and name.
 */
function apiServerNames(
  config: MachineConfig,
  machines: readonly Pick<DesiredMachine, "name" | "address" | "role">[],
): readonly string[] {
  const endpoints = ["cluster.controlPlane.endpoint", "KubeClusterConfig:endpoint"].flatMap((path) => {
    const endpoint = config.textAt(path) ?? "";
    return URL.canParse(endpoint) ? [hostOf(endpoint)] : [];
  });
  const extra = ["cluster.apiServer.certSANs", "KubeAPIServerConfig:certExtraSANs"].flatMap((path) =>
    config.textsAt(path),
  );
  const own = machines
    .filter(({ role }) => role === "controlplane")
    .flatMap(({ name, address }) => [name, parseAddress(address).host]);
  return [...endpoints, ...extra, ...own];
}

function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[(.*)\]$/, "$1");
}

/** Something in a machine config that keeps a component of this Kubernetes from starting. */
interface RemovedItem {
  readonly component: Component;
  readonly kind: "flag" | "feature gate" | "admission plugin";
  readonly name: string;
  readonly release: string;
}

/** Under one of these a config names flags, feature gates and admission plugins; most configs of workers have none. */
const namingKeys = /extraArgs|featureGates|admissionControl|KubeAdmissionControlConfig/;

/** What a machine config asks of Kubernetes that is gone. */
function removedItems(config: MachineConfig, gone: readonly Removal[]): readonly RemovedItem[] {
  if (!namingKeys.test(config.text)) return [];
  return components.flatMap((component) => {
    const { flags, featureGates, admissionPlugins } = settingsOf(config, component);
    return gone.flatMap(({ release, ...removal }): RemovedItem[] => {
      const among = (kind: RemovedItem["kind"], names: readonly string[], removed: readonly string[] = []) =>
        names.filter((name) => removed.includes(name)).map((name) => ({ component, kind, name, release }));
      return [
        ...among("flag", flags, removal.flags?.[component]),
        ...among("feature gate", featureGates, removal.featureGates),
        ...among("admission plugin", admissionPlugins, removal.admissionPlugins),
      ];
    });
  });
}

/** Where a component has its settings: in the v1alpha1 document, and since contract 1.14 in one of its own. */
const sections: Readonly<Record<Component, readonly [legacy: string, document: string]>> = {
  "kube-apiserver": ["cluster.apiServer", "KubeAPIServerConfig"],
  "kube-controller-manager": ["cluster.controllerManager", "KubeControllerManagerConfig"],
  "kube-scheduler": ["cluster.scheduler", "KubeSchedulerConfig"],
  kubelet: ["machine.kubelet", "KubeletConfig"],
};
const components = Object.keys(sections) as readonly Component[];

interface Settings {
  readonly flags: readonly string[];
  readonly featureGates: readonly string[];
  readonly admissionPlugins: readonly string[];
}

function settingsOf(config: MachineConfig, component: Component): Settings {
  const [legacy, document] = sections[component];
  const args = { ...dataAt(config, `${legacy}.extraArgs`), ...dataAt(config, `${document}:extraArgs`) };
  const listed = (flag: string) => [args[flag] ?? []].flat().flatMap((value) => String(value).split(","));
  // In a document of its own `config` is what was `extraConfig`.
  const gates = [`${legacy}.extraConfig.featureGates`, `${document}:config.featureGates`];
  return {
    flags: Object.keys(args),
    featureGates: [
      ...listed("feature-gates").map((gate) => gate.split("=")[0] ?? ""),
      ...gates.flatMap((path) => Object.keys(dataAt(config, path))),
    ],
    admissionPlugins: [
      ...listed("enable-admission-plugins"),
      ...(component === "kube-apiserver" ? admissionControl(config) : []),
    ],
  };
}

function admissionControl(config: MachineConfig): readonly string[] {
  const legacy = config.value("cluster.apiServer.admissionControl");
  const documents = [...config.documents.values()].filter(({ kind }) => kind === "KubeAdmissionControlConfig");
  return [...(Array.isArray(legacy) ? legacy.filter(isConfigData) : []), ...documents].map(({ name }) => String(name));
}

function dataAt(config: MachineConfig, path: string): ConfigData {
  const value = config.value(path);
  return isConfigData(value) ? value : {};
}
