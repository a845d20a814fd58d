// SPDX-License-Identifier: Apache-2.0
// The releases that make a cluster use AWS: load balancers for services, EBS volumes for claims, and machines for pods.
import { KubernetesVersion } from "../../talos/version/index.ts";
import { type AddonPlan, systemAddon } from "./addon-plan.ts";

export interface AwsAddonSettings {
  readonly clusterName: string;
  readonly region: string;
  /** Without v. */
  readonly kubernetesVersion: string;
  readonly controlPlanes: number;
  readonly cloudControllerManager: boolean;
  readonly ebsCsi: boolean;
  readonly clusterAutoscaler: boolean;
  /** Whether claims that name no class get an EBS volume. */
  readonly ebsIsDefault: boolean;
}

const controlPlaneRole = "node-role.kubernetes.io/control-plane";
const controllerManager = "aws-cloud-controller-manager";
const onControlPlanes = [
  { key: controlPlaneRole, operator: "Exists", effect: "NoSchedule" },
  { operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 },
];

/** The add-ons of an AWS cluster, in their order. Pure. */
export function awsAddons(settings: AwsAddonSettings): readonly AddonPlan[] {
  return [
    ...(settings.cloudControllerManager ? [cloudControllerManagerAddon(settings)] : []),
    ...(settings.ebsCsi ? [ebsCsiAddon(settings)] : []),
    ...(settings.clusterAutoscaler ? [clusterAutoscalerAddon(settings)] : []),
  ];
}

/** Newest releases by minor release of Kubernetes, which they follow. */
type Releases = Readonly<Record<number, string>>;

const controllerReleases: Releases = {
  31: "v1.31.9",
  32: "v1.32.8",
  33: "v1.33.4",
  34: "v1.34.3",
  35: "v1.35.2",
  36: "v1.36.1",
};

const autoscalerReleases: Releases = {
  31: "v1.31.5",
  32: "v1.32.7",
  33: "v1.33.6",
  34: "v1.34.5",
  35: "v1.35.2",
  36: "v1.36.1",
};

function releaseFor(kubernetesVersion: string, releases: Releases): string | undefined {
  const minors = Object.keys(releases).map(Number);
  const { minor } = KubernetesVersion.parse(kubernetesVersion);
  return releases[Math.min(Math.max(minor, Math.min(...minors)), Math.max(...minors))];
}

/** On control planes, which have the rights; on the host's network, where one hop is enough to reach the metadata. */
function cloudControllerManagerAddon({ clusterName, kubernetesVersion }: AwsAddonSettings): AddonPlan {
  return systemAddon({
    name: controllerManager,
    repository: "https://kubernetes.github.io/cloud-provider-aws",
    version: "0.0.11",
    values: {
      args: [
        "--v=2",
        "--cloud-provider=aws",
        `--cluster-name=${clusterName}`,
        // Routes are the pod network's.
        "--configure-cloud-routes=false",
      ],
      hostNetworking: true,
      image: { tag: releaseFor(kubernetesVersion, controllerReleases) },
    },
  });
}

/**
 * The controller runs where the rights are. Its pods are not on the host's network, so that control planes answer
 * metadata requests over two hops; the pods on the other nodes are, so that those need one.
 */
function ebsCsiAddon(settings: AwsAddonSettings): AddonPlan {
  const { clusterName, region, controlPlanes, cloudControllerManager, ebsIsDefault } = settings;
  return systemAddon({
    name: "aws-ebs-csi-driver",
    repository: "https://kubernetes-sigs.github.io/aws-ebs-csi-driver",
    version: "2.64.0",
    after: cloudControllerManager ? [controllerManager] : [],
    values: {
      controller: {
        region,
        k8sTagClusterId: clusterName,
        // A second one on the same node would keep that node from being drained.
        replicaCount: Math.min(2, controlPlanes),
        nodeSelector: { [controlPlaneRole]: "" },
        tolerations: onControlPlanes,
      },
      node: { hostNetwork: true, enableWindows: false },
      storageClasses: [
        {
          name: "gp3",
          annotations: { "storageclass.kubernetes.io/is-default-class": String(ebsIsDefault) },
          allowVolumeExpansion: true,
          volumeBindingMode: "WaitForFirstConsumer",
          parameters: { type: "gp3", encrypted: "true" },
        },
      ],
      helmTester: { enabled: false },
    },
  });
}

/** On control planes, which have the rights; on the host's network, where one hop is enough to reach the metadata. */
function clusterAutoscalerAddon({ clusterName, region, kubernetesVersion }: AwsAddonSettings): AddonPlan {
  return systemAddon({
    name: "cluster-autoscaler",
    repository: "https://kubernetes.github.io/autoscaler",
    version: "9.59.0",
    // It knows machines by the provider ids that the controller gives their nodes.
    after: [controllerManager],
    values: {
      cloudProvider: "aws",
      awsRegion: region,
      autoDiscovery: { clusterName },
      hostNetwork: true,
      dnsPolicy: "Default",
      nodeSelector: { [controlPlaneRole]: "" },
      tolerations: onControlPlanes,
      image: { tag: releaseFor(kubernetesVersion, autoscalerReleases) },
    },
  });
}
