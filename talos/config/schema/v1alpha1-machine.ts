// SPDX-License-Identifier: Apache-2.0

/** The v1alpha1 document and its machine section, without machine.network. The notation is explained in `schema.ts`. */
export const v1alpha1MachineTypes: Readonly<Record<string, string>> = {
  "v1alpha1.Config": `
    ConfigVersion version string
    ConfigDebug debug? *bool
    ConfigPersist persist? *bool
    MachineConfig machine *v1alpha1.MachineConfig
    ClusterConfig cluster *v1alpha1.ClusterConfig
  `,
  "v1alpha1.MachineConfig": `
    MachineType type string
    MachineToken token string
    MachineCA ca? *pair
    MachineAcceptedCAs acceptedCAs? []*certificate
    MachineCertSANs certSANs []string
    MachineControlPlane controlPlane? *v1alpha1.MachineControlPlaneConfig
    MachineKubelet kubelet? *v1alpha1.KubeletConfig
    MachinePods pods? []object
    MachineNetwork network? *v1alpha1.NetworkConfig
    MachineDisks disks? []*v1alpha1.MachineDisk
    MachineInstall install? *v1alpha1.InstallConfig
    MachineFiles files? []*v1alpha1.MachineFile
    MachineEnv env? {}string
    MachineTime time? *v1alpha1.TimeConfig
    MachineSysctls sysctls? {}string
    MachineSysfs sysfs? {}string
    MachineRegistries registries? v1alpha1.RegistriesConfig
    MachineSystemDiskEncryption systemDiskEncryption? *v1alpha1.SystemDiskEncryptionConfig
    MachineFeatures features? *v1alpha1.FeaturesConfig
    MachineUdev udev? *v1alpha1.UdevConfig
    MachineLogging logging? *v1alpha1.LoggingConfig
    MachineKernel kernel? *v1alpha1.KernelConfig
    MachineSeccompProfiles seccompProfiles? []*v1alpha1.MachineSeccompProfile
    MachineBaseRuntimeSpecOverrides baseRuntimeSpecOverrides? object
    MachineNodeLabels nodeLabels? {}string
    MachineNodeAnnotations nodeAnnotations? {}string
    MachineNodeTaints nodeTaints? {}string
  `,
  "v1alpha1.MachineSeccompProfile": `
    MachineSeccompProfileName name string
    MachineSeccompProfileValue value object
  `,
  "v1alpha1.LinuxIDMapping": `
    ContainerID containerID uint32
    HostID hostID uint32
    Size size uint32
  `,
  "v1alpha1.ExtraMount": `
    Destination destination string
    Type type? string
    Source source? string
    Options options? []string
    UIDMappings uidMappings? []v1alpha1.LinuxIDMapping
    GIDMappings gidMappings? []v1alpha1.LinuxIDMapping
  `,
  "v1alpha1.MachineControlPlaneConfig": `
    MachineControllerManager controllerManager? *v1alpha1.MachineControllerManagerConfig
    MachineScheduler scheduler? *v1alpha1.MachineSchedulerConfig
  `,
  "v1alpha1.MachineControllerManagerConfig": "MachineControllerManagerDisabled disabled? *bool",
  "v1alpha1.MachineSchedulerConfig": "MachineSchedulerDisabled disabled? *bool",
  "v1alpha1.KubeletConfig": `
    KubeletImage image? string
    KubeletClusterDNS clusterDNS? []string
    KubeletExtraArgs extraArgs? args
    KubeletExtraMounts extraMounts? []v1alpha1.ExtraMount
    KubeletExtraConfig extraConfig? object
    KubeletCredentialProviderConfig credentialProviderConfig? object
    KubeletDefaultRuntimeSeccompProfileEnabled defaultRuntimeSeccompProfileEnabled? *bool
    KubeletRegisterWithFQDN registerWithFQDN? *bool
    KubeletNodeIP nodeIP? *v1alpha1.KubeletNodeIPConfig
    KubeletSkipNodeRegistration skipNodeRegistration? *bool
    KubeletDisableManifestsDirectory disableManifestsDirectory? *bool
  `,
  "v1alpha1.KubeletNodeIPConfig": "KubeletNodeIPValidSubnets validSubnets? []string",
  "v1alpha1.InstallConfig": `
    InstallDisk disk? string
    InstallDiskSelector diskSelector? *v1alpha1.InstallDiskSelector
    InstallExtraKernelArgs extraKernelArgs? []string
    InstallImage image? string
    InstallExtensions extensions? []v1alpha1.InstallExtensionConfig
    InstallBootloader bootloader? *bool
    InstallWipe wipe *bool
    InstallLegacyBIOSSupport legacyBIOSSupport? *bool
    InstallGrubUseUKICmdline grubUseUKICmdline? *bool @12
  `,
  "v1alpha1.InstallDiskSelector": `
    Size size? *sizeCondition
    Name name? string
    Model model? string
    Serial serial? string
    Modalias modalias? string
    UUID uuid? string
    WWID wwid? string
    Type type? string
    BusPath busPath? string
  `,
  "v1alpha1.InstallExtensionConfig": "ExtensionImage image string",
  "v1alpha1.TimeConfig": `
    TimeDisabled disabled? *bool
    TimeServers servers? []string
    TimeBootTimeout bootTimeout? duration
  `,
  "v1alpha1.RegistriesConfig": `
    RegistryMirrors mirrors? {}*v1alpha1.RegistryMirrorConfig
    RegistryConfig config? {}*v1alpha1.RegistryConfig
  `,
  "v1alpha1.MachineDisk": `
    DeviceName device? string
    DiskPartitions partitions? []*v1alpha1.DiskPartition
  `,
  "v1alpha1.DiskPartition": `
    DiskSize size? diskSize
    DiskMountPoint mountpoint? string
  `,
  "v1alpha1.EncryptionConfig": `
    EncryptionProvider provider string
    EncryptionKeys keys []*v1alpha1.EncryptionKey
    EncryptionCipher cipher? string
    EncryptionKeySize keySize? uint
    EncryptionBlockSize blockSize? uint64
    EncryptionPerfOptions options? []string
  `,
  "v1alpha1.EncryptionKey": `
    KeyStatic static? *v1alpha1.EncryptionKeyStatic
    KeyNodeID nodeID? *v1alpha1.EncryptionKeyNodeID
    KeyKMS kms? *v1alpha1.EncryptionKeyKMS
    KeySlot slot int
    KeyTPM tpm? *v1alpha1.EncryptionKeyTPM
  `,
  "v1alpha1.EncryptionKeyStatic": "KeyData passphrase? string",
  "v1alpha1.EncryptionKeyKMS": "KMSEndpoint endpoint string",
  "v1alpha1.EncryptionKeyTPM": "TPMCheckSecurebootStatusOnEnroll checkSecurebootStatusOnEnroll? *bool",
  "v1alpha1.MachineFile": `
    FileContent content string
    FilePermissions permissions fileMode
    FilePath path string
    FileOp op string
  `,
  "v1alpha1.RegistryMirrorConfig": `
    MirrorEndpoints endpoints []string
    MirrorOverridePath overridePath? *bool
    MirrorSkipFallback skipFallback? *bool
  `,
  "v1alpha1.RegistryConfig": `
    RegistryTLS tls? *v1alpha1.RegistryTLSConfig
    RegistryAuth auth? *v1alpha1.RegistryAuthConfig
  `,
  "v1alpha1.RegistryAuthConfig": `
    RegistryUsername username? string
    RegistryPassword password? string
    RegistryAuth auth? string
    RegistryIdentityToken identityToken? string
  `,
  "v1alpha1.RegistryTLSConfig": `
    TLSClientIdentity clientIdentity? *pair
    TLSCA ca? base64
    TLSInsecureSkipVerify insecureSkipVerify? *bool
  `,
  "v1alpha1.SystemDiskEncryptionConfig": `
    StatePartition state? *v1alpha1.EncryptionConfig
    EphemeralPartition ephemeral? *v1alpha1.EncryptionConfig
  `,
  "v1alpha1.FeaturesConfig": `
    RBAC rbac? *bool
    StableHostname stableHostname? *bool
    KubernetesTalosAPIAccessConfig kubernetesTalosAPIAccess? *v1alpha1.KubernetesTalosAPIAccessConfig
    ApidCheckExtKeyUsage apidCheckExtKeyUsage? *bool
    DiskQuotaSupport diskQuotaSupport? *bool
    KubePrismSupport kubePrism? *v1alpha1.KubePrism
    HostDNSSupport hostDNS? *v1alpha1.HostDNSConfig
    ImageCacheSupport imageCache? *v1alpha1.ImageCacheConfig
    FeatureNodeAddressSortAlgorithm nodeAddressSortAlgorithm? string
  `,
  "v1alpha1.KubePrism": `
    ServerEnabled enabled? *bool
    ServerPort port? int
  `,
  "v1alpha1.ImageCacheConfig": "CacheLocalEnabled localEnabled? *bool",
  "v1alpha1.KubernetesTalosAPIAccessConfig": `
    AccessEnabled enabled? *bool
    AccessAllowedRoles allowedRoles? []string
    AccessAllowedKubernetesNamespaces allowedKubernetesNamespaces? []string
  `,
  "v1alpha1.HostDNSConfig": `
    HostDNSEnabled enabled? *bool
    HostDNSForwardKubeDNSToHost forwardKubeDNSToHost? *bool
    HostDNSResolveMemberNames resolveMemberNames? *bool
  `,
  "v1alpha1.UdevConfig": "UdevRules rules? []string",
  "v1alpha1.LoggingConfig": "LoggingDestinations destinations []v1alpha1.LoggingDestination",
  "v1alpha1.LoggingDestination": `
    LoggingEndpoint endpoint *url
    LoggingFormat format string
    LoggingExtraTags extraTags? {}string
  `,
  "v1alpha1.KernelConfig": "KernelModules modules? []*v1alpha1.KernelModuleConfig",
  "v1alpha1.KernelModuleConfig": `
    ModuleName name string
    ModuleParameters parameters? []string
  `,
  "v1alpha1.EncryptionKeyNodeID": "",
};
