// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import { KubernetesVersion } from "../../talos/version/index.ts";
import { toPlainData } from "../../talos/yaml/index.ts";
import { configDocuments } from "./config-documents.ts";

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

/** Something in a machine config that keeps a component of this Kubernetes from starting. */
export interface RemovedItem {
  readonly component: Component;
  readonly kind: "flag" | "feature gate" | "admission plugin";
  readonly name: string;
  readonly release: string;
}

const mayName = /\b(?:extraArgs|featureGates|admissionControl):|^kind: KubeAdmissionControlConfig$/m;

/** What a machine config asks of Kubernetes that the given version has no more. */
export function removedItems(config: string, kubernetesVersion: string): readonly RemovedItem[] {
  // Most configs have nothing of the kind, and reading hundreds of them takes its time.
  if (!mayName.test(config)) return [];
  const target = KubernetesVersion.parse(kubernetesVersion);
  const gone = removals.filter(({ release }) => KubernetesVersion.parse(`${release}.0`).compare(target) <= 0);
  return settingsOf(config).flatMap(({ component, flags, featureGates, admissionPlugins }) =>
    gone.flatMap(({ release, ...removal }): RemovedItem[] => {
      const among = (kind: RemovedItem["kind"], names: readonly string[], removed: readonly string[] = []) =>
        names.filter((name) => removed.includes(name)).map((name) => ({ component, kind, name, release }));
      return [
        ...among("flag", flags, removal.flags?.[component]),
        ...among("feature gate", featureGates, removal.featureGates),
        ...among("admission plugin", admissionPlugins, removal.admissionPlugins),
      ];
    }),
  );
}

interface Settings {
  readonly component: Component;
  readonly flags: readonly string[];
  readonly featureGates: readonly string[];
  readonly admissionPlugins: readonly string[];
}

const args = z.record(z.string(), z.union([z.string(), z.array(z.string())])).catch({});
const gates = z.object({ featureGates: z.record(z.string(), z.unknown()).catch({}) }).catch({ featureGates: {} });
const part = z
  .object({ extraArgs: args, extraConfig: gates, admissionControl: z.array(z.object({ name: z.string() })).catch([]) })
  .catch({ extraArgs: {}, extraConfig: { featureGates: {} }, admissionControl: [] });
const legacy = z.object({
  machine: z.object({ kubelet: part }).catch({ kubelet: part.parse(undefined) }),
  cluster: z
    .object({ apiServer: part, controllerManager: part, scheduler: part })
    .catch({ apiServer: part.parse({}), controllerManager: part.parse({}), scheduler: part.parse({}) }),
});

/** Each component has its own documents since Talos 1.14; in them `config` is what was `extraConfig`. */
const documents: Readonly<Record<string, Component>> = {
  KubeAPIServerConfig: "kube-apiserver",
  KubeAdmissionControlConfig: "kube-apiserver",
  KubeControllerManagerConfig: "kube-controller-manager",
  KubeSchedulerConfig: "kube-scheduler",
  KubeletConfig: "kubelet",
};
const modern = z.object({ kind: z.string(), name: z.string().optional(), extraArgs: args, config: gates });

function settingsOf(config: string): Settings[] {
  return configDocuments(config).flatMap((node) => {
    const document = toPlainData(node);
    const own = modern.safeParse(document).data;
    if (own !== undefined) {
      const component = documents[own.kind];
      const admissionControl = own.kind === "KubeAdmissionControlConfig" ? [{ name: own.name ?? "" }] : [];
      const { extraArgs, config: extraConfig } = own;
      return component === undefined ? [] : [settings(component, { extraArgs, extraConfig, admissionControl })];
    }
    const { machine, cluster } = legacy.parse(document ?? {});
    return [
      settings("kube-apiserver", cluster.apiServer),
      settings("kube-controller-manager", cluster.controllerManager),
      settings("kube-scheduler", cluster.scheduler),
      settings("kubelet", machine.kubelet),
    ];
  });
}

function settings(component: Component, { extraArgs, extraConfig, admissionControl }: z.infer<typeof part>): Settings {
  const listed = (flag: string) => [extraArgs[flag] ?? []].flat().flatMap((value) => value.split(","));
  const gateNames = listed("feature-gates").map((gate) => gate.split("=")[0] ?? "");
  return {
    component,
    flags: Object.keys(extraArgs),
    featureGates: [...gateNames, ...Object.keys(extraConfig.featureGates)],
    admissionPlugins: [...listed("enable-admission-plugins"), ...admissionControl.map(({ name }) => name)],
  };
}
