// SPDX-License-Identifier: Apache-2.0

/** The cluster section of the v1alpha1 document. The notation is explained in `schema.ts`. */
export const v1alpha1ClusterTypes: Readonly<Record<string, string>> = {
  "v1alpha1.ClusterConfig": `
    ClusterID id? string
    ClusterSecret secret? string
    ControlPlane controlPlane?14 *v1alpha1.ControlPlaneConfig
    ClusterName clusterName? string
    ClusterNetwork network? *v1alpha1.ClusterNetworkConfig
    BootstrapToken token? string
    ClusterAESCBCEncryptionSecret aescbcEncryptionSecret? string
    ClusterSecretboxEncryptionSecret secretboxEncryptionSecret? string
    ClusterCA ca? *pair
    ClusterAcceptedCAs acceptedCAs? []*certificate
    ClusterAggregatorCA aggregatorCA? *pair
    ClusterServiceAccount serviceAccount? *key
    APIServerConfig apiServer? *v1alpha1.APIServerConfig
    ControllerManagerConfig controllerManager? *v1alpha1.ControllerManagerConfig
    ProxyConfig proxy? *v1alpha1.ProxyConfig
    SchedulerConfig scheduler? *v1alpha1.SchedulerConfig
    ClusterDiscoveryConfig discovery? *v1alpha1.ClusterDiscoveryConfig
    EtcdConfig etcd? *v1alpha1.EtcdConfig
    CoreDNSConfig coreDNS? *v1alpha1.CoreDNS
    ExternalCloudProviderConfig externalCloudProvider? *v1alpha1.ExternalCloudProviderConfig
    ExtraManifests extraManifests? []string
    ExtraManifestHeaders extraManifestHeaders? {}string
    ClusterInlineManifests inlineManifests? []v1alpha1.ClusterInlineManifest
    AdminKubeconfigConfig adminKubeconfig? *v1alpha1.AdminKubeconfigConfig
    AllowSchedulingOnMasters allowSchedulingOnMasters? *bool
    AllowSchedulingOnControlPlanes allowSchedulingOnControlPlanes? *bool
  `,
  "v1alpha1.PodCheckpointer": "PodCheckpointerImage image? string",
  "v1alpha1.CoreDNS": `
    CoreDNSDisabled disabled? *bool
    CoreDNSImage image? string
  `,
  "v1alpha1.ControlPlaneConfig": `
    Endpoint endpoint *url
    LocalAPIServerPort localAPIServerPort? int
  `,
  "v1alpha1.APIServerConfig": `
    ContainerImage image? string
    ExtraArgsConfig extraArgs? args
    ExtraVolumesConfig extraVolumes? []v1alpha1.VolumeMountConfig
    EnvConfig env? {}string
    CertSANs certSANs? []string
    DisablePodSecurityPolicyConfig disablePodSecurityPolicy? *bool
    AdmissionControlConfig admissionControl? []*v1alpha1.AdmissionPluginConfig by=name
    AuditPolicyConfig auditPolicy? object replace
    ResourcesConfig resources? *v1alpha1.ResourcesConfig
    AuthorizationConfigConfig authorizationConfig? []*v1alpha1.AuthorizationConfigAuthorizerConfig
  `,
  "v1alpha1.AdmissionPluginConfig": `
    PluginName name string
    PluginConfiguration configuration object
  `,
  "v1alpha1.AuthorizationConfigAuthorizerConfig": `
    AuthorizerType type string
    AuthorizerName name string
    AuthorizerWebhook webhook? object
  `,
  "v1alpha1.ControllerManagerConfig": `
    ContainerImage image? string
    ExtraArgsConfig extraArgs? args
    ExtraVolumesConfig extraVolumes? []v1alpha1.VolumeMountConfig
    EnvConfig env? {}string
    ResourcesConfig resources? *v1alpha1.ResourcesConfig
  `,
  "v1alpha1.ProxyConfig": `
    Disabled disabled? *bool
    ContainerImage image? string
    ModeConfig mode? string
    ExtraArgsConfig extraArgs? args
  `,
  "v1alpha1.SchedulerConfig": `
    ContainerImage image? string
    ExtraArgsConfig extraArgs? args
    ExtraVolumesConfig extraVolumes? []v1alpha1.VolumeMountConfig
    EnvConfig env? {}string
    ResourcesConfig resources? *v1alpha1.ResourcesConfig
    SchedulerConfig config? object
  `,
  "v1alpha1.EtcdConfig": `
    ContainerImage image? string
    RootCA ca *pair
    EtcdExtraArgs extraArgs? args
    EtcdSubnet subnet? string
    EtcdAdvertisedSubnets advertisedSubnets? []string
    EtcdListenSubnets listenSubnets? []string
  `,
  "v1alpha1.ClusterNetworkConfig": `
    CNI cni? *v1alpha1.CNIConfig
    DNSDomain dnsDomain string
    PodSubnet podSubnets []string replace
    ServiceSubnet serviceSubnets []string replace
  `,
  "v1alpha1.CNIConfig": `
    CNIName name? string
    CNIUrls urls? []string
    CNIFlannel flannel? *v1alpha1.FlannelCNIConfig
  `,
  "v1alpha1.FlannelCNIConfig": `
    FlanneldExtraArgs extraArgs? []string
    FlannelKubeNetworkPoliciesEnabled kubeNetworkPoliciesEnabled? *bool @13
  `,
  "v1alpha1.ExternalCloudProviderConfig": `
    ExternalEnabled enabled? *bool
    ExternalManifests manifests? []string
  `,
  "v1alpha1.AdminKubeconfigConfig": "AdminKubeconfigCertLifetime certLifetime? duration",
  "v1alpha1.ResourcesConfig": `
    Requests requests? object
    Limits limits? object
  `,
  "v1alpha1.VolumeMountConfig": `
    VolumeHostPath hostPath string
    VolumeMountPath mountPath string
    VolumeReadOnly readonly? bool
  `,
  "v1alpha1.ClusterInlineManifest": `
    InlineManifestName name string
    InlineManifestContents contents manifest
  `,
  "v1alpha1.ClusterDiscoveryConfig": `
    DiscoveryEnabled enabled? *bool
    DiscoveryRegistries registries v1alpha1.DiscoveryRegistriesConfig
  `,
  "v1alpha1.DiscoveryRegistriesConfig": `
    RegistryKubernetes kubernetes v1alpha1.RegistryKubernetesConfig
    RegistryService service v1alpha1.RegistryServiceConfig
  `,
  "v1alpha1.RegistryKubernetesConfig": "RegistryDisabled disabled? *bool",
  "v1alpha1.RegistryServiceConfig": `
    RegistryDisabled disabled? *bool
    RegistryEndpoint endpoint? string
  `,
};
