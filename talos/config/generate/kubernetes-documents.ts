// SPDX-License-Identifier: Apache-2.0
import { acceptedCas, type SecretsBundle } from "../../secrets/index.ts";
import type { MachineConfigInput, ResolvedCluster } from "../cluster-config.ts";
import {
  auditPolicy,
  controlPlaneRole,
  excludeFromLoadBalancers,
  filledList,
  podSecurityConfiguration,
  type Section,
  sortedMap,
} from "./common-values.ts";

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
        ? { issuingCA: { cert: certificate, key }, acceptedCAs: filledList(accepted) }
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
      certExtraSANs: filledList(cluster.additionalSans),
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

export function document(kind: string, fields: Section): Section {
  return { apiVersion: "v1alpha1", kind, ...fields };
}
