// SPDX-License-Identifier: Apache-2.0

/** A type of resource as `talosctl get` knows it. */
export interface ResourceType {
  readonly type: string;
  readonly namespace: string;
  /** Names besides those that follow from the type. */
  readonly aliases: readonly string[];
  /** Only os:admin may read it. */
  readonly secret: boolean;
  /** The controller that puts it out; empty where the simulator has none of it. */
  readonly owner: string;
  /** What is printed: `title=path` of the YAML spec. */
  readonly columns: readonly string[];
}

/** type | namespace | extra aliases | secret | controller | columns. One line per type of Talos 1.13; this file is a table, hence its length. */
const table = `
BlockDevices.block.talos.dev | runtime |  |  |  | Type={.type} ; PartitionName={.partitionName} ; Generation={.generation}
BlockSymlinks.block.talos.dev | runtime |  |  |  | 
DiscoveredVolumes.block.talos.dev | runtime |  |  | block.DiscoveryController | Type={.type} ; Size={.pretty_size} ; Discovered={.name} ; Label={.label} ; PartitionLabel={.partition_label}
DiscoveryRefreshRequests.block.talos.dev | runtime |  |  |  | Request={.request}
DiscoveryRefreshStatuses.block.talos.dev | runtime |  |  |  | Request={.request}
Disks.block.talos.dev | runtime |  |  | block.DisksController | Size={.pretty_size} ; Read Only={.readonly} ; Transport={.transport} ; Rotational={.rotational} ; WWID={.wwid} ; Model={.model} ; Serial={.serial}
MountRequests.block.talos.dev | runtime |  |  |  | Volume={.volumeID} ; Parent={.parentID} ; Requesters={.requesters}
MountStatuses.block.talos.dev | runtime |  |  |  | Source={.source} ; Target={.target} ; Filesystem={.filesystem} ; Volume={.spec.volumeID}
SwapStatuses.block.talos.dev | runtime | swap swaps |  |  | Device={.device} ; Size={.sizeHuman} ; Used={.usedHuman} ; Priority={.priority}
SystemDisks.block.talos.dev | runtime |  |  | block.SystemDiskController | Disk={.diskID}
UserDiskConfigStatuses.block.talos.dev | runtime |  |  |  | Ready={.ready}
VolumeConfigs.block.talos.dev | runtime |  | secret |  | 
VolumeLifecycles.block.talos.dev | runtime |  |  |  | 
VolumeMountRequests.block.talos.dev | runtime |  |  |  | Volume ID={.volumeID} ; Requester={.requester}
VolumeMountStatuses.block.talos.dev | runtime |  |  |  | Volume ID={.volumeID} ; Requester={.requester} ; Target={.target}
VolumeStatuses.block.talos.dev | runtime |  |  | block.VolumeManagerController | Type={.type} ; Phase={.phase} ; Location={.location} ; Size={.prettySize}
ZswapStatuses.block.talos.dev | runtime |  |  |  | Total Size={.totalSizeHuman} ; Stored Pages={.storedPages} ; Written Back={.writtenBackPages} ; Pool Limit Hit={.poolLimitHit}
Affiliates.cluster.talos.dev | cluster |  |  | cluster.AffiliateMergeController | Hostname={.hostname} ; Machine Type={.machineType} ; Addresses={.addresses}
DiscoveryConfigs.cluster.talos.dev | config |  | secret |  | 
Identities.cluster.talos.dev | cluster |  |  | cluster.NodeIdentityController | ID={.nodeId}
Infos.cluster.talos.dev | cluster |  |  | cluster.InfoController | Cluster ID={.clusterId} ; Cluster Name={.clusterName}
Members.cluster.talos.dev | cluster |  |  | cluster.MemberController | Hostname={.hostname} ; Machine Type={.machineType} ; OS={.operatingSystem} ; Addresses={.addresses}
MachineConfigs.config.talos.dev | config |  | secret | config.AcquireController | 
MachineTypes.config.talos.dev | config |  |  | config.MachineTypeController | Type={@}
ImageCacheConfigs.cri.talos.dev | cri |  |  |  | Status={.status} ; CopyStatus={.copyStatus} ; Roots={.roots}
RegistryConfigs.cri.talos.dev | cri |  | secret |  | 
SeccompProfiles.cri.talos.dev | cri |  |  |  | 
EtcdConfigs.etcd.talos.dev | etcd |  |  | etcd.ConfigController | Image={.image}
EtcdMembers.etcd.talos.dev | etcd |  |  | etcd.MemberController | Member ID={.memberID}
EtcdSpecs.etcd.talos.dev | etcd |  |  | etcd.SpecController | Name={.name} ; AdvertisedAddresses={.advertisedAddresses} ; ListenPeerAddresses={.listenPeerAddresses} ; ListenClientAddresses={.listenClientAddresses}
PKIStatuses.etcd.talos.dev | etcd |  |  | etcd.PKIController | Ready={.ready} ; Secrets Version={.version}
EtcFileSpecs.files.talos.dev | files |  | secret |  | 
EtcFileStatuses.files.talos.dev | files |  |  |  | 
MemoryModules.hardware.talos.dev | hardware | memorymodules ram |  | hardware.SystemInfoController | Manufacturer={.manufacturer} ; Model={.productName} ; SizeMiB={.sizeMiB}
PCIDevices.hardware.talos.dev | hardware | devices device |  |  | Class={.class} ; Subclass={.subclass} ; Vendor={.vendor} ; Product={.product}
PCIDriverRebindConfigs.runtime.talos.dev | hardware |  |  |  | Name={.name} ; PCI ID={.pciID} ; TargetDriver={.targetDriver}
PCIDriverRebindStatuses.runtime.talos.dev | hardware | pcidriverrebinds |  |  | Name={.name} ; PCI ID={.pciID} ; TargetDriver={.targetDriver}
PCRStatuses.hardware.talos.dev | hardware |  |  |  | 
Processors.hardware.talos.dev | hardware | cpus cpu |  | hardware.SystemInfoController | Manufacturer={.manufacturer} ; Model={.productName} ; Cores={.coreCount} ; Threads={.threadCount}
SystemInformations.hardware.talos.dev | hardware | systeminformation |  | hardware.SystemInfoController | Manufacturer={.manufacturer} ; ProductName={.productName} ; Version={.version} ; SerialNumber={.serialnumber} ; UUID={.uuid} ; WakeUpType={.wakeUpType} ; SKUNumber={.skuNumber}
APIServerConfigs.kubernetes.talos.dev | controlplane |  | secret | k8s.ControlPlaneAPIServerController | 
AdmissionControlConfigs.kubernetes.talos.dev | controlplane |  |  |  | 
AuditPolicyConfigs.kubernetes.talos.dev | controlplane |  | secret |  | 
AuthorizationConfigs.kubernetes.talos.dev | controlplane |  | secret |  | 
BootstrapManifestsConfigs.kubernetes.talos.dev | controlplane |  |  | k8s.ControlPlaneBootstrapManifestsController | 
ConfigStatuses.kubernetes.talos.dev | controlplane |  |  | k8s.RenderConfigsStaticPodController | Ready={.ready} ; Secrets Version={.version}
ControllerManagerConfigs.kubernetes.talos.dev | controlplane |  |  | k8s.ControlPlaneControllerManagerController | 
Endpoints.kubernetes.talos.dev | controlplane |  |  | k8s.EndpointController | Addresses={.addresses} ; Hosts={.hosts}
ExtraManifestsConfigs.kubernetes.talos.dev | controlplane |  |  |  | 
KubePrismConfigs.kubernetes.talos.dev | k8s |  |  |  | Host={.host} ; Port={.port} ; Endpoints={.endpoints}
KubePrismEndpoints.kubernetes.talos.dev | k8s |  |  |  | Hosts={.endpoints[*].host} ; Ports={.endpoints[*].port}
KubePrismStatuses.kubernetes.talos.dev | k8s |  |  | k8s.KubePrismController | HOST={.host} ; HEALTHY={.healthy}
KubeletConfigs.kubernetes.talos.dev | k8s |  | secret | k8s.KubeletConfigController | 
KubeletKubeconfigs.kubernetes.talos.dev | k8s |  |  | k8s.KubeletServiceController | Hash={.hash}
KubeletLifecycles.kubernetes.talos.dev | k8s |  |  |  | 
KubeletSpecs.kubernetes.talos.dev | k8s |  | secret | k8s.KubeletSpecController | 
ManifestStatuses.kubernetes.talos.dev | controlplane |  |  | k8s.ManifestApplyController | 
Manifests.kubernetes.talos.dev | controlplane |  |  | k8s.ManifestController | 
NodeAnnotationSpecs.k8s.talos.dev | k8s |  | secret |  | Value={.value}
NodeCordonedSpecs.k8s.talos.dev | k8s |  | secret |  | 
NodeIPConfigs.kubernetes.talos.dev | k8s |  |  |  | 
NodeIPs.kubernetes.talos.dev | k8s |  |  | k8s.NodeIPController | 
NodeLabelSpecs.k8s.talos.dev | k8s |  | secret |  | Value={.value}
NodeStatuses.kubernetes.talos.dev | k8s |  |  | k8s.NodeStatusController | Ready={.nodeReady} ; Unschedulable={.unschedulable}
NodeTaintSpecs.k8s.talos.dev | k8s |  | secret |  | Effect={.effect} ; Value={.value}
Nodenames.kubernetes.talos.dev | k8s |  |  | k8s.NodenameController | Nodename={.nodename}
SchedulerConfigs.kubernetes.talos.dev | controlplane |  |  | k8s.ControlPlaneSchedulerController | 
SecretStatuses.kubernetes.talos.dev | controlplane |  |  | k8s.RenderSecretsStaticPodController | Ready={.ready} ; Secrets Version={.version}
StaticPodServerStatuses.kubernetes.talos.dev | k8s |  |  |  | 
StaticPodStatuses.kubernetes.talos.dev | k8s | podstatus |  | k8s.KubeletStaticPodController | Ready={.conditions[?(@.type=="Ready")].status}
StaticPods.kubernetes.talos.dev | k8s |  |  | k8s.ControlPlaneStaticPodController | 
KubernetesAccessConfigs.cluster.talos.dev | config |  |  |  | 
KubeSpanConfigs.kubespan.talos.dev | config |  | secret |  | 
KubeSpanEndpoints.kubespan.talos.dev | kubespan |  |  |  | Endpoint={.endpoint} ; Affiliate ID={.affiliateID}
KubeSpanIdentities.kubespan.talos.dev | kubespan |  | secret |  | Address={.address} ; PublicKey={.publicKey}
KubeSpanPeerSpecs.kubespan.talos.dev | kubespan |  |  |  | Label={.label} ; Endpoints={.endpoints}
KubeSpanPeerStatuses.kubespan.talos.dev | kubespan |  |  |  | Label={.label} ; Endpoint={.endpoint} ; State={.state} ; Rx={.receiveBytes} ; Tx={.transmitBytes}
AddressSpecs.net.talos.dev | network |  |  |  | 
AddressStatuses.net.talos.dev | network | address addresses |  | network.AddressStatusController | Address={.address} ; Link={.linkName}
DNSResolveCaches.net.talos.dev | network |  |  |  | Status={.status}
DNSUpstreams.net.talos.dev | network |  |  |  | Healthy={.healthy} ; Address={.addr}
DeviceConfigSpecs.net.talos.dev | network |  | secret |  | 
EthernetSpecs.net.talos.dev | network |  |  |  | 
EthernetStatuses.net.talos.dev | network | ethtool |  |  | Link={.linkState} ; Speed={.speedMbit}
HardwareAddresses.net.talos.dev | network |  |  |  | 
HostDNSConfigs.net.talos.dev | network |  |  | network.HostDNSConfigController | Enabled={.enabled}
HostnameSpecs.net.talos.dev | network |  |  |  | 
HostnameStatuses.net.talos.dev | network | hostname |  | network.HostnameSpecController | Hostname={.hostname} ; Domainname={.domainname}
LinkAliasSpecs.net.talos.dev | network |  |  |  | Alias={.alias}
LinkRefreshes.net.talos.dev | network |  |  |  | 
LinkSpecs.net.talos.dev | network |  | secret |  | 
LinkStatuses.net.talos.dev | network | link links |  | network.LinkStatusController | Alias={.alias} ; Type={.type} ; Kind={.kind} ; Hw Addr={.hardwareAddr} ; Oper State={.operationalState} ; Link State={.linkState}
NetworkStatuses.net.talos.dev | network | netstatus netstatuses |  | network.StatusController | Address={.addressReady} ; Connectivity={.connectivityReady} ; Hostname={.hostnameReady} ; Etc={.etcFilesReady}
NfTablesChains.net.talos.dev | network | chain chains |  |  | Type={.type} ; Hook={.hook} ; Priority={.priority} ; Policy={.policy}
NodeAddressFilters.net.talos.dev | network |  |  |  | Include Subnets={.includeSubnets} ; Exclude Subnets={.excludeSubnets}
NodeAddressSortAlgorithms.net.talos.dev | network |  |  |  | Algorithm={.algorithm}
NodeAddresses.net.talos.dev | network |  |  | network.NodeAddressController | Addresses={.addresses} ; SortAlgorithm={.sortAlgorithm}
OperatorSpecs.net.talos.dev | network |  | secret | network.OperatorMergeController | 
PlatformConfigs.net.talos.dev | network |  |  |  | 
ProbeSpecs.net.talos.dev | network |  |  |  | 
ProbeStatuses.net.talos.dev | network | probe probes |  |  | Success={.success}
ResolverSpecs.net.talos.dev | network |  |  |  | Layer={.layer} ; Resolvers={.dnsServers} ; Search Domains={.searchDomains}
ResolverStatuses.net.talos.dev | network | resolvers |  | network.ResolverSpecController | Resolvers={.dnsServers} ; Search Domains={.searchDomains}
RouteSpecs.net.talos.dev | network |  |  |  | 
RouteStatuses.net.talos.dev | network | route routes |  | network.RouteStatusController | Destination={.dst} ; Gateway={.gateway} ; Link={.outLinkName} ; Metric={.priority}
RoutingRuleSpecs.net.talos.dev | network |  |  |  | 
RoutingRuleStatuses.net.talos.dev | network | routingrule routingrules |  |  | Src={.src} ; Dst={.dst} ; Table={.table} ; Priority={.priority}
TimeServerSpecs.net.talos.dev | network |  |  |  | 
TimeServerStatuses.net.talos.dev | network | timeserver timeservers |  | network.TimeServerSpecController | Timeservers={.timeServers}
CPUStats.perf.talos.dev | perf |  |  |  | User={.cpuTotal.user} ; System={.cpuTotal.system}
MemoryStats.perf.talos.dev | perf |  |  |  | Used={.used} ; Total={.total}
APIServiceConfigs.runtime.talos.dev | runtime |  |  | runtime.APIServiceConfigController | 
BootedEntries.talos.dev | runtime |  |  | runtime.BootedEntryController | Booted Entry={.bootedEntry}
DevicesStatuses.runtime.talos.dev | runtime |  |  | runtime.DevicesStatusController | Ready={.ready}
Diagnostics.runtime.talos.dev | runtime |  |  | runtime.DiagnosticsController | Message={.message}
Environments.runtime.talos.dev | runtime | env |  |  | Variables={.variables}
EventSinkConfigs.runtime.talos.dev | runtime |  |  |  | 
ExtensionServiceConfigStatuses.runtime.talos.dev | runtime |  |  |  | 
ExtensionServiceConfigs.runtime.talos.dev | runtime |  | secret |  | 
ExtensionStatuses.runtime.talos.dev | runtime | extensions |  | runtime.ExtensionStatusController | Name={.metadata.name} ; Version={.metadata.version}
KernelCmdlines.runtime.talos.dev | runtime | cmdline |  | runtime.KernelCmdlineController | Cmdline={.cmdline}
KernelModuleSpecs.runtime.talos.dev | runtime |  |  |  | 
KernelParamDefaultSpecs.runtime.talos.dev | runtime |  |  |  | 
KernelParamSpecs.runtime.talos.dev | runtime |  |  |  | 
KernelParamStatuses.runtime.talos.dev | runtime | sysctls kernelparameters kernelparams |  | runtime.KernelParamSpecController | Current={.current} ; Default={.default} ; Unsupported={.unsupported}
KmsgLogConfigs.runtime.talos.dev | runtime |  |  |  | 
LoadedKernelModules.runtime.talos.dev | runtime | module modules |  |  | State={.state}
MachineResetSignals.runtime.talos.dev | runtime |  |  |  | 
MachineStatuses.runtime.talos.dev | runtime |  |  | runtime.MachineStatusController | Stage={.stage} ; Ready={.status.ready}
MaintenanceServiceConfigs.runtime.talos.dev | runtime |  |  |  | 
MaintenanceServiceRequests.runtime.talos.dev | runtime |  |  |  | 
MetaKeys.runtime.talos.dev | runtime | meta |  | runtime.MetaKeyController | Value={.value}
MetaLoads.runtime.talos.dev | runtime |  |  | runtime.MetaKeyController | Done={.done}
MountStatuses.runtime.talos.dev | runtime | mounts |  |  | Source={.source} ; Target={.target} ; Filesystem Type={.filesystemType}
OOMActions.talos.dev | runtime | oomaction oomactions | secret |  | Time={.time} ; Score={.score}
PlatformMetadatas.talos.dev | runtime |  |  | network.PlatformConfigApplyController | Platform={.platform} ; Type={.instanceType} ; Region={.region} ; Zone={.zone}
SBOMItems.talos.dev | runtime | sbom sboms |  |  | Version={.version} ; License={.license} ; Extension={.extension}
SecurityStates.talos.dev | runtime |  |  | runtime.SecurityStateController | SecureBoot={.secureBoot} ; UKISigningKeyFingerprint={.ukiSigningKeyFingerprint} ; PCRSigningKeyFingerprint={.pcrSigningKeyFingerprint} ; SELinuxState={.selinuxState} ; ModuleSignatureEnforced={.moduleSignatureEnforced}
ServicePIDs.runtime.talos.dev | runtime |  |  | v1alpha1.ServiceController | PID={.pid}
UniqueMachineTokens.runtime.talos.dev | runtime |  |  | runtime.UniqueMachineTokenController | Token={.token}
Versions.runtime.talos.dev | runtime |  |  | runtime.VersionController | Name={.name} ; Version={.version}
WatchdogTimerConfigs.runtime.talos.dev | runtime |  |  |  | Device={.device} ; Timeout={.timeout}
WatchdogTimerStatuses.runtime.talos.dev | runtime |  |  |  | Device={.device} ; Timeout={.timeout}
ApiCertificates.secrets.talos.dev | secrets |  | secret |  | 
CertSANs.secrets.talos.dev | secrets |  | secret | secrets.APICertSANsController | 
EncryptionSalts.secrets.talos.dev | secrets |  | secret |  | 
EtcdRootSecrets.secrets.talos.dev | secrets |  | secret |  | 
EtcdSecrets.secrets.talos.dev | secrets |  | secret |  | 
KubeletSecrets.secrets.talos.dev | secrets |  | secret |  | 
KubernetesDynamicCerts.secrets.talos.dev | secrets |  | secret |  | 
KubernetesRootSecrets.secrets.talos.dev | secrets |  | secret | secrets.RootKubernetesController | 
KubernetesSecrets.secrets.talos.dev | secrets |  | secret |  | 
MaintenanceRootSecrets.secrets.talos.dev | secrets |  | secret |  | 
OSRootSecrets.secrets.talos.dev | secrets |  | secret | secrets.RootOSController | 
TrustdCertificates.secrets.talos.dev | secrets |  | secret |  | 
ImageVerificationRules.security.talos.dev | security |  |  |  | Pattern={.imagePattern} ; Skip={.skip} ; Deny={.deny}
TUFTrustedRoots.security.talos.dev | security |  |  |  | Last Refresh={.lastRefreshTime}
SiderolinkConfigs.siderolink.talos.dev | config |  | secret |  | API Endpoint={.apiEndpoint} ; Tunnel={.tunnel}
SiderolinkStatuses.siderolink.talos.dev | config |  |  |  | Host={.host} ; Connected={.connected}
SiderolinkTunnels.siderolink.talos.dev | config |  | secret |  | API Endpoint={.apiEndpoint} ; Link name={.linkName} ; MTU={.mtu} ; Node address={.nodeAddress}
AdjtimeStatuses.v1alpha1.talos.dev | runtime |  |  |  | Offset={.offset} ; EstError={.estError} ; MaxError={.maxError} ; Status={.status} ; Sync={.syncStatus}
TimeStatuses.v1alpha1.talos.dev | runtime |  |  | time.SyncController | Synced={.synced}
AcquireConfigSpecs.v1alpha1.talos.dev | runtime |  |  |  | 
AcquireConfigStatuses.v1alpha1.talos.dev | runtime |  |  |  | 
Services.v1alpha1.talos.dev | runtime | svc |  | v1alpha1.ServiceController | Running={.running} ; Healthy={.healthy} ; Health Unknown={.unknown}
Namespaces.meta.cosi.dev | meta | ns |  |  | Description={.description}
ResourceDefinitions.meta.cosi.dev | meta | api-resources |  |  | Aliases={.aliases[:]}
`;

export const resourceTypes: readonly ResourceType[] = table
  .trim()
  .split("\n")
  .map((line) => {
    const [type = "", namespace = "", aliases = "", secret = "", owner = "", columns = ""] = line
      .split("|")
      .map((cell) => cell.trim());
    return {
      type,
      namespace,
      aliases: aliases.split(" ").filter((alias) => alias !== ""),
      secret: secret !== "",
      owner,
      columns: columns.split(" ; ").filter((column) => column !== ""),
    };
  });
