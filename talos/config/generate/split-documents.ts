// SPDX-License-Identifier: Apache-2.0
// What contract 1.14 writes: little in the v1alpha1 document, and documents for all else.
import { filled } from "../../given.ts";
import { acceptedCas, type SecretsBundle } from "../../secrets/index.ts";
import type { MachineConfigInput, ResolvedCluster } from "../cluster-config.ts";
import {
  auditPolicy,
  controlPlaneRole,
  document,
  encodedCertificates,
  encodedPair,
  excludeFromLoadBalancers,
  externalCloudProviderSection,
  kubeletArguments,
  podSecurityConfiguration,
  type Section,
  sortedMap,
} from "./common-values.ts";
import { resolverFields } from "./network.ts";

/** What contract 1.14 leaves in the v1alpha1 document. */
export function smallV1alpha1Document(
  cluster: ResolvedCluster,
  secrets: SecretsBundle,
  machine: MachineConfigInput,
): Section {
  const controlPlane = machine.type === "controlplane";
  return {
    version: "v1alpha1",
    debug: false,
    persist: true,
    machine: {
      type: machine.type,
      token: secrets.trustdInfo.token,
      ca: encodedPair(secrets.certs.os, { withKey: controlPlane }),
      acceptedCAs: encodedCertificates(acceptedCas(secrets, "os")),
      certSANs: cluster.additionalSans,
      features: { diskQuotaSupport: true },
    },
    cluster: {
      token: secrets.secrets.bootstrapToken,
      etcd: controlPlane ? { ca: encodedPair(secrets.certs.etcd, { withKey: true }) } : undefined,
      externalCloudProvider: externalCloudProviderSection(cluster),
    },
  };
}

/** The documents of contract 1.14 between the v1alpha1 one and those of registries and networks. */
export function systemDocuments(
  cluster: ResolvedCluster,
  secrets: SecretsBundle,
  machine: MachineConfigInput,
): readonly Section[] {
  const { id, secret } = secrets.cluster;
  const documents = [
    document("DiscoveryIdentityConfig", { clusterID: id, clusterSecret: secret }),
    document("UnattendedInstallConfig", {
      installer: { image: cluster.installImage },
      provisioning: {
        diskSelector: { match: `disk.dev_path == ${JSON.stringify(cluster.installDisk)}` },
        wipe: false,
      },
    }),
    document("ResolverConfig", {
      ...resolverFields(machine),
      hostDNS: { enabled: true, forwardKubeDNSToHost: true },
    }),
    document("VolumeConfig", { name: "EPHEMERAL", mount: { secure: true } }),
    document("FilesystemTrimConfig", { interval: "168h0m0s" }),
    document("SecurityProfileConfig", { workloadIsolation: true }),
  ];
  if (cluster.discovery)
    documents.unshift(
      document("DiscoveryServiceConfig", { name: "default", endpoint: "https://discovery.talos.dev/" }),
    );
  return documents;
}

/** Kubernetes documents of contract 1.14 that every machine has. */
export function nodeDocuments(
  cluster: ResolvedCluster,
  secrets: SecretsBundle,
  machine: MachineConfigInput,
): readonly Section[] {
  const controlPlane = machine.type === "controlplane";
  const spared = controlPlane && !cluster.allowSchedulingOnControlPlanes;
  const { certificate, key } = secrets.certs.k8s;
  const accepted = acceptedCas(secrets, "k8s");
  return [
    document("KubeClusterConfig", { clusterName: cluster.clusterName, endpoint: cluster.endpoint }),
    document("KubeNodeConfig", {
      nodeIP: {},
      labels: sortedMap({
        [controlPlaneRole]: controlPlane ? "" : undefined,
        [excludeFromLoadBalancers]: spared ? "" : undefined,
        ...machine.nodeLabels,
      }),
      taints: sortedMap({ [controlPlaneRole]: spared ? "NoSchedule" : undefined, ...machine.nodeTaints }),
    }),
    document("KubeletConfig", {
      image: `ghcr.io/siderolabs/kubelet:${cluster.kubernetesTag}`,
      config: {},
      extraArgs: kubeletArguments(machine),
      defaultRuntimeSeccompProfileEnabled: true,
    }),
    document("KubeNetworkConfig", {
      dnsDomain: cluster.dnsDomain,
      podSubnets: cluster.podSubnets,
      serviceSubnets: cluster.serviceSubnets,
    }),
    document(
      "KubeAPIServerCAConfig",
      controlPlane
        ? { issuingCA: { cert: certificate, key }, acceptedCAs: filled(accepted) }
        : { acceptedCAs: [certificate, ...accepted] },
    ),
    document("KubePrismConfig", { port: 7445 }),
  ];
}

/** Kubernetes documents of contract 1.14 that only control planes have. */
export function controlPlaneDocuments(cluster: ResolvedCluster, secrets: SecretsBundle): readonly Section[] {
  const { certificate: cert, key } = secrets.certs.k8sAggregator;
  const image = (name: string): string => `registry.k8s.io/${name}:${cluster.kubernetesTag}`;
  const documents = [
    document("KubeAggregatorCAConfig", { issuingCA: { cert, key } }),
    document("KubeAdmissionControlConfig", { name: "PodSecurity", configuration: podSecurityConfiguration }),
    document("KubeAuditPolicyConfig", { configuration: auditPolicy }),
    document("KubeAuthenticationConfig", {
      configuration: {
        anonymous: {
          conditions: [{ path: "/livez" }, { path: "/readyz" }, { path: "/healthz" }],
          enabled: true,
        },
        jwt: [],
      },
    }),
    document("KubeAuthorizerConfig", { name: "node", type: "Node" }),
    document("KubeAuthorizerConfig", { name: "rbac", type: "RBAC" }),
    document("KubeEtcdEncryptionConfig", {
      config: { resources: [{ providers: encryptionProviders(secrets), resources: ["secrets"] }] },
    }),
    document("KubeServiceAccountConfig", {
      issuer: { privateKey: secrets.certs.k8sServiceAccount.key, issuerURL: cluster.endpoint },
    }),
    document("KubeAPIServerConfig", {
      image: image("kube-apiserver"),
      certExtraSANs: filled(cluster.additionalSans),
    }),
    document("KubeControllerManagerConfig", { image: image("kube-controller-manager") }),
    document("KubeSchedulerConfig", { image: image("kube-scheduler"), config: {} }),
    document("KubeProxyConfig", {
      enabled: cluster.kubeProxy ? undefined : false,
      image: image("kube-proxy"),
      config: {},
    }),
  ];
  if (cluster.cni.name === "flannel")
    documents.push(document("KubeFlannelCNIConfig", { backendType: "vxlan", backendPort: 4789 }));
  documents.push(document("KubeCoreDNSConfig", { enabled: true }));
  if (cluster.cni.name === "custom") documents.push(...cluster.cni.urls.map(cniManifest));
  return documents;
}

/** The names of the keys are those of older contracts, so that what is encrypted stays readable. */
function encryptionProviders(secrets: SecretsBundle): readonly Section[] {
  const { secretboxEncryptionSecret, aescbcEncryptionSecret } = secrets.secrets;
  const provider = (kind: string, name: string, secret: string | undefined) =>
    secret === undefined ? [] : [{ [kind]: { keys: [{ name, secret }] } }];
  return [
    ...provider("secretbox", "key2", secretboxEncryptionSecret),
    ...provider("aescbc", "key1", aescbcEncryptionSecret),
  ];
}

function cniManifest(url: string, index: number): Section {
  return document("KubeExternalManifestConfig", { name: index === 0 ? "custom-cni" : `custom-cni-${index + 1}`, url });
}
