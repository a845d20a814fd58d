// SPDX-License-Identifier: Apache-2.0
import { filled } from "../../given.ts";
import { toBase64 } from "../../pki/index.ts";
import { acceptedCas, type SecretsBundle } from "../../secrets/index.ts";
import type { MachineConfigInput, ResolvedCluster } from "../cluster-config.ts";
import {
  auditPolicy,
  encodedCertificates,
  encodedPair,
  excludeFromLoadBalancers,
  externalCloudProviderSection,
  kubeletArguments,
  podSecurityConfiguration,
  type Section,
  sortedMap,
} from "./common-values.ts";
import { legacyNetwork } from "./network.ts";

/** The v1alpha1 document of contracts up to 1.13, where it holds nearly everything. */
export function v1alpha1Document(
  cluster: ResolvedCluster,
  secrets: SecretsBundle,
  machine: MachineConfigInput,
): Section {
  return {
    version: "v1alpha1",
    debug: false,
    persist: true,
    machine: machineSection(cluster, secrets, machine),
    cluster: clusterSection(cluster, secrets, machine),
  };
}

function machineSection(cluster: ResolvedCluster, secrets: SecretsBundle, machine: MachineConfigInput): Section {
  const { contract } = cluster;
  const controlPlane = machine.type === "controlplane";
  const excluded = controlPlane && !cluster.allowSchedulingOnControlPlanes;
  const always = contract.legacyFeatureFlags ? true : undefined;
  return {
    type: machine.type,
    token: secrets.trustdInfo.token,
    ca: encodedPair(secrets.certs.os, { withKey: controlPlane }),
    acceptedCAs: encodedCertificates(acceptedCas(secrets, "os")),
    certSANs: cluster.additionalSans,
    kubelet: {
      image: `ghcr.io/siderolabs/kubelet:${cluster.kubernetesTag}`,
      extraArgs: kubeletArguments(machine),
      defaultRuntimeSeccompProfileEnabled: true,
      disableManifestsDirectory: true,
    },
    network: legacyNetwork(cluster, machine),
    install: {
      disk: cluster.installDisk,
      image: cluster.installImage,
      wipe: false,
      grubUseUKICmdline: contract.grubUsesUkiCommandLine ? true : undefined,
    },
    registries: contract.registryDocuments ? undefined : legacyRegistries(cluster),
    features: {
      rbac: always,
      stableHostname: always,
      apidCheckExtKeyUsage: always,
      diskQuotaSupport: true,
      kubePrism: { enabled: true, port: 7445 },
      hostDNS: { enabled: true, forwardKubeDNSToHost: true },
    },
    nodeLabels: sortedMap({ [excludeFromLoadBalancers]: excluded ? "" : undefined, ...machine.nodeLabels }),
    nodeTaints: sortedMap({ ...machine.nodeTaints }),
  };
}

function legacyRegistries(cluster: ResolvedCluster): Section | undefined {
  const mirrors = Object.entries(cluster.registryMirrors).map(([host, endpoints]) => [host, { endpoints }] as const);
  return mirrors.length === 0 ? undefined : { mirrors: sortedMap(Object.fromEntries(mirrors)) };
}

function clusterSection(cluster: ResolvedCluster, secrets: SecretsBundle, machine: MachineConfigInput): Section {
  const controlPlane = machine.type === "controlplane";
  const shared = {
    id: secrets.cluster.id,
    secret: secrets.cluster.secret,
    controlPlane: { endpoint: cluster.endpoint },
    clusterName: cluster.clusterName,
    network: {
      cni: legacyCni(cluster),
      dnsDomain: cluster.dnsDomain,
      podSubnets: cluster.podSubnets,
      serviceSubnets: cluster.serviceSubnets,
    },
    token: secrets.secrets.bootstrapToken,
  };
  const ca = encodedPair(secrets.certs.k8s, { withKey: controlPlane });
  const discovery = {
    enabled: cluster.discovery,
    registries: { kubernetes: { disabled: true }, service: {} },
  };
  const acceptedCAs = encodedCertificates(acceptedCas(secrets, "k8s"));
  const externalCloudProvider = externalCloudProviderSection(cluster);
  if (!controlPlane) return { ...shared, ca, acceptedCAs, discovery, externalCloudProvider };
  return {
    ...shared,
    aescbcEncryptionSecret: secrets.secrets.aescbcEncryptionSecret,
    secretboxEncryptionSecret: secrets.secrets.secretboxEncryptionSecret,
    ca,
    acceptedCAs,
    aggregatorCA: encodedPair(secrets.certs.k8sAggregator, { withKey: true }),
    serviceAccount: { key: toBase64(secrets.certs.k8sServiceAccount.key) },
    apiServer: apiServerSection(cluster),
    controllerManager: { image: `registry.k8s.io/kube-controller-manager:${cluster.kubernetesTag}` },
    proxy: {
      disabled: cluster.kubeProxy ? undefined : true,
      image: `registry.k8s.io/kube-proxy:${cluster.kubernetesTag}`,
    },
    scheduler: { image: `registry.k8s.io/kube-scheduler:${cluster.kubernetesTag}` },
    discovery,
    etcd: { ca: encodedPair(secrets.certs.etcd, { withKey: true }) },
    externalCloudProvider,
    allowSchedulingOnControlPlanes: cluster.allowSchedulingOnControlPlanes ? true : undefined,
  };
}

function apiServerSection(cluster: ResolvedCluster): Section {
  const endpointHost = cluster.contract.legacyApiServer ? [cluster.endpointHost] : [];
  return {
    image: `registry.k8s.io/kube-apiserver:${cluster.kubernetesTag}`,
    certSANs: filled([...endpointHost, ...cluster.additionalSans]),
    disablePodSecurityPolicy: cluster.contract.legacyApiServer ? true : undefined,
    admissionControl: [{ name: "PodSecurity", configuration: podSecurityConfiguration }],
    auditPolicy,
  };
}

function legacyCni(cluster: ResolvedCluster): Section | undefined {
  switch (cluster.cni.name) {
    case "flannel":
      return undefined;
    case "none":
      return { name: "none" };
    case "custom":
      return { name: "custom", urls: cluster.cni.urls };
  }
}
