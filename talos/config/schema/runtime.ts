// SPDX-License-Identifier: Apache-2.0

/** Documents of the system itself: registries, discovery, extensions, logging, security. The notation is explained in `schema.ts`. */
export const runtimeTypes: Readonly<Record<string, string>> = {
  "cluster.DiscoveryIdentityConfigV1Alpha1": `
    MetaClusterID clusterID string
    MetaClusterSecret clusterSecret string
  `,
  "cluster.DiscoveryServiceConfigV1Alpha1": `
    MetaName name string
    EndpointURL endpoint url
  `,
  "container.ContainerConfigV1Alpha1": `
    MetaName name string
    ContainerImage image string
    ContainerEntrypoint entrypoint? []string
    ContainerArgs args? []string
    ContainerWorkingDir workingDir? string
    RunAsConfig runAs? *container.ContainerRunAs
    ContainerEnvironment environment? []string
    MountsConfig mounts? []container.ContainerMount
    SecurityConfig security? *container.ContainerSecurity
    NetworkConfig network? *container.ContainerNetwork
    ResourcesConfig resources? *container.ContainerResources
    DependsOnConfig dependsOn? *container.ContainerDependsOn
  `,
  "container.ContainerMount": `
    UserVolumeMount userVolume? *container.UserVolumeMount
    TmpfsMount tmpfs? *container.TmpfsMount
    HostPathMount hostPath? *container.HostPathMount
  `,
  "container.UserVolumeMount": `
    VolumeName name string
    MountDestination destination string
    MountOpts options? []string
  `,
  "container.TmpfsMount": `
    MountDestination destination string
    MountSize size? string
    MountOpts options? []string
  `,
  "container.HostPathMount": `
    MountSource source string
    MountDestination destination string
    MountOpts options? []string
  `,
  "container.ContainerRunAs": `
    RunAsUID uid? *int32
    RunAsGID gid? *int32
  `,
  "container.ContainerNetwork": "NetworkMode mode? string",
  "container.ContainerResources": "Limits limits? *container.ContainerResourceLimits",
  "container.ContainerResourceLimits": `
    CPU cpu? string
    Memory memory? string
  `,
  "container.ContainerDependsOn": `
    PathsConfig paths? []string
    NetworksConfig networks? []string
    TimeConfig time? *bool
    ContainersConfig containers? []string
  `,
  "container.ContainerSecurity": `
    SecurityProfile profile? string
    SecurityCapabilities capabilities? *container.ContainerCapabilities
    SecurityMachinedAccess machinedAccess? bool
  `,
  "container.ContainerCapabilities": `
    CapabilitiesAddConfig add? []string
    CapabilitiesDropConfig drop? []string
  `,
  "cri.CRIBaseRuntimeSpecConfigV1Alpha1": "OverridesConfig overrides? object replace",
  "cri.CRICustomizationConfigV1Alpha1": `
    MetaName name string
    CustomizationContent content string
  `,
  "cri.ImageCacheConfigV1Alpha1": "LocalConfig local cri.LocalImageCacheConfig",
  "cri.LocalImageCacheConfig": "ConfigEnabled enabled? *bool",
  "cri.RegistryAuthConfigV1Alpha1": `
    MetaName name string
    RegistryUsername username? string
    RegistryPassword password? string
    RegistryAuth auth? string
    RegistryIdentityToken identityToken? string
  `,
  "cri.RegistryMirrorConfigV1Alpha1": `
    MetaName name string
    RegistryEndpoints endpoints? []cri.RegistryEndpoint
    RegistrySkipFallback skipFallback? *bool
  `,
  "cri.RegistryEndpoint": `
    EndpointURL url url
    EndpointOverridePath overridePath? *bool
  `,
  "cri.RegistryTLSConfigV1Alpha1": `
    MetaName name string
    TLSClientIdentity clientIdentity? *meta.CertificateAndKey
    TLSCA ca? string
    TLSInsecureSkipVerify insecureSkipVerify? *bool
  `,
  "hardware.PCIDriverRebindConfigV1Alpha1": `
    MetaName name string
    PCITargetDriver targetDriver string
  `,
  "runtime.EnvironmentV1Alpha1": "EnvironmentVariables variables {}string",
  "runtime.EtcFileConfigV1Alpha1": `
    MetaName name string
    FileMode mode fileMode
    Contents contents string
  `,
  "runtime.EventSinkV1Alpha1": "Endpoint endpoint string",
  "runtime.KernelModuleConfigV1Alpha1": `
    MetaName name string
    ModuleParameters parameters? []string
  `,
  "runtime.KmsgLogV1Alpha1": `
    MetaName name string
    KmsgLogURL url url
  `,
  "runtime.OOMV1Alpha1": `
    OOMTriggerExpression triggerExpression? expression
    OOMCgroupRankingExpression cgroupRankingExpression? expression
    OOMStrictCgroupClassOrdering strictCgroupClassOrdering? *bool
    OOMSampleInterval sampleInterval? duration
  `,
  "runtime.SecurityProfileConfigV1Alpha1": "WorkloadIsolationEnabled workloadIsolation? *bool",
  "runtime.SysctlConfigV1Alpha1": "Params params {}string",
  "runtime.SysfsConfigV1Alpha1": "Params params {}string",
  "runtime.UdevRulesConfigV1Alpha1": "UdevRules rules? []string",
  "runtime.UnattendedInstallConfigV1Alpha1": `
    Reboot reboot? *bool
    Installer installer runtime.InstallerSpec
    ProvisioningSpec provisioning runtime.ProvisioningSpec
  `,
  "runtime.InstallerSpec": "Image image? string",
  "runtime.ProvisioningSpec": `
    DiskSelector diskSelector? runtime.DiskSelectorSpec
    Wipe wipe? *bool
  `,
  "runtime.DiskSelectorSpec": "Match match? expression",
  "runtime.WatchdogTimerV1Alpha1": `
    WatchdogDevice device string
    WatchdogTimeout timeout? duration
  `,
  "extensions.ServiceConfigV1Alpha1": `
    ServiceName name string
    ServiceConfigFiles configFiles? []extensions.ConfigFile by=mountPath
    ServiceEnvironment environment? []string
  `,
  "extensions.ConfigFile": `
    ConfigFileContent content string
    ConfigFileMountPath mountPath string
  `,
  "security.ImageVerificationConfigV1Alpha1": `
    ConfigRules rules? []security.ImageVerificationRuleV1Alpha1 replaceBy=image
  `,
  "security.ImageVerificationRuleV1Alpha1": `
    RuleImagePattern image? string
    RuleSkip skip? *bool
    RuleDeny deny? *bool
    RuleKeylessVerifier keyless? *security.ImageKeylessVerifierV1Alpha1
    RulePublicKeyVerifier publicKey? *security.ImagePublicKeyVerifierV1Alpha1
  `,
  "security.ImageKeylessVerifierV1Alpha1": `
    KeylessIssuer issuer? string
    KeylessSubject subject? string
    KeylessSubjectRegex subjectRegex? string
  `,
  "security.ImagePublicKeyVerifierV1Alpha1": "ConfigCertificate certificate? string",
  "security.TrustedRootsConfigV1Alpha1": `
    MetaName name string
    Certificates certificates string
  `,
  "siderolink.ConfigV1Alpha1": `
    APIUrlConfig apiUrl url
    UniqueTokenConfig uniqueToken? string @10
  `,
};
