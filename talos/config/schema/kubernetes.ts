// SPDX-License-Identifier: Apache-2.0

/** Documents of Kubernetes, from contract 1.14 on. The notation is explained in `schema.ts`. */
export const kubernetesTypes: Readonly<Record<string, string>> = {
  "k8s.KubeAdmissionControlConfigV1Alpha1": `
    MetaName name string
    PluginConfig configuration object
  `,
  "k8s.KubeAggregatorCAConfigV1Alpha1": `
    AggregatorIssuingCA issuingCA? *meta.CertificateAndKey
    AggregatorAcceptedCAs acceptedCAs? []string
  `,
  "k8s.KubeAPIServerConfigV1Alpha1": `
    PodImage image string
    PodArgs extraArgs? args
    PodEnv env? {}string
    PodResources resources? k8s.ResourcesConfig
    PodAPIPort apiPort? *int
    PodCertExtraSANs certExtraSANs? []string
    PodStartupProbes startupProbes? *bool
  `,
  "k8s.KubeAPIServerCAConfigV1Alpha1": `
    APIIssuingCA issuingCA? *meta.CertificateAndKey
    APIAcceptedCAs acceptedCAs? []string
  `,
  "k8s.KubeAuditPolicyConfigV1Alpha1": "AuditConfig configuration object replace",
  "k8s.KubeAuthenticationConfigV1Alpha1": "AuthConfig configuration object replace",
  "k8s.KubeAuthorizerConfigV1Alpha1": `
    MetaName name string
    AuthorizerType type string
    AuthorizerWebhook webhook? object
  `,
  "k8s.KubeClusterConfigV1Alpha1": `
    ClusterNameConfig clusterName string
    ClusterEndpointConfig endpoint url
  `,
  "k8s.ResourcesConfig": `
    Requests requests? object
    Limits limits? object
  `,
  "k8s.KubeControllerManagerConfigV1Alpha1": `
    PodEnabled enabled? *bool
    PodImage image string
    PodArgs extraArgs? args
    PodEnv env? {}string
    PodResources resources? k8s.ResourcesConfig
  `,
  "k8s.KubeCoreDNSConfigV1Alpha1": `
    PodEnabled enabled? *bool
    PodImage image? string
  `,
  "k8s.KubeCredentialProviderConfigV1Alpha1": "CredentialProviderConfig configuration object replace",
  "k8s.KubeEtcdEncryptionConfigV1Alpha1": "Config config object",
  "k8s.KubeExternalManifestConfigV1Alpha1": `
    MetaName name string
    HeadersSpec headers? {}string
    URLSpec url url
  `,
  "k8s.KubeFlannelCNIConfigV1Alpha1": `
    FlannelBackendType backendType string
    FlannelBackendPort backendPort? uint16
    FlannelBackendMTU backendMTU? uint32
    FlannelBackendExtraConfig backendExtraConfig? object
    FlannelResources resources? k8s.ResourcesConfig
    FlannelExtraArgs extraArgs? []string
    FlannelKubeNetworkPoliciesEnabled kubeNetworkPoliciesEnabled? *bool
  `,
  "k8s.KubeInlineManifestConfigV1Alpha1": `
    MetaName name string
    ManifestSpec manifest string
  `,
  "k8s.KubeletConfigV1Alpha1": `
    KubeletImage image string
    KubeletConfig config object
    KubeletArgs extraArgs? args
    KubeletClusterDNS clusterDNS? []string
    KubeletDefaultRuntimeSeccompProfileEnabled defaultRuntimeSeccompProfileEnabled? *bool
  `,
  "k8s.KubePrismConfigV1Alpha1": `
    PortConfig port int
    TLSServerNameConfig tlsServerName? string
  `,
  "k8s.KubeNetworkConfigV1Alpha1": `
    NetworkDNSDomain dnsDomain string
    NetworkPodSubnets podSubnets []prefix replace
    NetworkServiceSubnets serviceSubnets []prefix replace
    NetworkNodeCIDRMaskSizeIPv4 nodeCIDRMaskSizeIPv4? int
    NetworkNodeCIDRMaskSizeIPv6 nodeCIDRMaskSizeIPv6? int
  `,
  "k8s.KubeNodeConfigV1Alpha1": `
    SkipNodeRegistrationConfig skipNodeRegistration? *bool
    RegisterWithFQDNConfig registerWithFQDN? *bool
    NodeIPConfig nodeIP k8s.NodeIPConfig
    LabelsConfig labels? {}string
    AnnotationsConfig annotations? {}string
    TaintsConfig taints? {}string
  `,
  "k8s.NodeIPConfig": "NodeIPValidSubnets validSubnets? []string",
  "k8s.KubeProxyConfigV1Alpha1": `
    ProxyEnabled enabled? *bool
    ProxyImage image? string
    ProxyMode mode? string
    ProxyConfig config object
    ProxyExtraArgs extraArgs? args
    ProxyResources resources? k8s.ResourcesConfig
  `,
  "k8s.KubeSchedulerConfigV1Alpha1": `
    PodEnabled enabled? *bool
    PodImage image string
    PodConfig config object
    PodArgs extraArgs? args
    PodEnv env? {}string
    PodResources resources? k8s.ResourcesConfig
  `,
  "k8s.KubeServiceAccountConfigV1Alpha1": `
    ServiceIssuer issuer k8s.IssuerServiceAccountConfig
    ServiceAccepted accepted? k8s.AcceptedServiceAccountConfig
  `,
  "k8s.IssuerServiceAccountConfig": `
    PrivateKey privateKey string
    IssuerURL issuerURL url
  `,
  "k8s.AcceptedServiceAccountConfig": `
    PublicKeys publicKeys? []string
    Issuers issuers? []url
    Audiences audiences? []string
  `,
  "k8s.KubeStaticPodConfigV1Alpha1": `
    MetaName name string
    PodSpec pod object replace
  `,
  "k8s.KubeTalosAPIAccessConfigV1Alpha1": `
    AccessAllowedRoles allowedRoles? []string
    AccessAllowedKubernetesNamespaces allowedKubernetesNamespaces? []string
  `,
};
