// SPDX-License-Identifier: Apache-2.0
import type { Shape } from "./spec-codec.ts";

const stages = {
  booting: 1,
  installing: 2,
  maintenance: 3,
  running: 4,
  rebooting: 5,
  "shutting down": 6,
  resetting: 7,
  upgrading: 8,
};
const machineTypes = { init: 1, controlplane: 2, worker: 3 };
const layers = { cmdline: 1, platform: 2, operator: 3, configuration: 4 };
const families = { inet4: 2, inet6: 10 };
const scopes = { site: 200, link: 253, host: 254, nowhere: 255 };
const phases = { failed: 1, missing: 2, located: 3, provisioned: 4, prepared: 5, ready: 6, closed: 7 };
const filesystems = { xfs: 1, vfat: 2, ext4: 3, iso9660: 4, swap: 5 };
const operationalStates = { notPresent: 1, down: 2, lowerLayerDown: 3, testing: 4, dormant: 5, up: 6 };
const certificate: Shape = { string: { crt: 1 } };
const controlPlane: Shape = { number: { port: 1 } };
const renderStatus: Shape = { bool: { ready: 1 }, string: { version: 2 } };

/** The protobuf form of the specs that typed clients read, by resource type; talosctl's own printing reads the YAML. */
export const shapes: Readonly<Record<string, Shape>> = {
  "MachineStatuses.runtime.talos.dev": {
    names: { stage: [1, stages] },
    message: {
      status: [2, { bool: { ready: 1 }, message: { unmetConditions: [2, { string: { name: 1, reason: 2 } }] } }],
    },
  },
  "OSRootSecrets.secrets.talos.dev": {
    message: { issuingCA: [1, certificate], acceptedCAs: [5, certificate] },
    string: { certSANDNSNames: 3 },
  },
  "KubernetesRootSecrets.secrets.talos.dev": {
    string: { name: 1, dnsDomain: 6 },
    message: { issuingCA: [7, certificate], acceptedCAs: [15, certificate] },
  },
  "Versions.runtime.talos.dev": { string: { version: 1, name: 2 } },
  "SecurityStates.talos.dev": {
    bool: { secureBoot: 1, bootedWithUKI: 5, moduleSignatureEnforced: 7 },
    names: { selinuxState: [4, { permissive: 1, enforcing: 2 }] },
  },
  "PlatformMetadatas.talos.dev": { string: { platform: 1, hostname: 2, instanceId: 6 } },
  "MetaKeys.runtime.talos.dev": { string: { value: 1 } },
  "MetaLoads.runtime.talos.dev": { bool: { done: 1 } },
  "KernelCmdlines.runtime.talos.dev": { string: { cmdline: 1 } },
  "DevicesStatuses.runtime.talos.dev": { bool: { ready: 1 } },
  "BootedEntries.talos.dev": { string: { bootedEntry: 1 } },
  "Services.v1alpha1.talos.dev": { bool: { running: 1, healthy: 2, unknown: 3 } },
  "ServicePIDs.runtime.talos.dev": { number: { pid: 1 } },
  "TimeStatuses.v1alpha1.talos.dev": { bool: { synced: 1, syncDisabled: 3 }, number: { epoch: 2 } },
  "MachineConfigs.config.talos.dev": { string: { "@": 1 } },
  "MachineTypes.config.talos.dev": { names: { "@": [1, machineTypes] } },
  "APIServiceConfigs.runtime.talos.dev": {
    string: { listenAddress: 1 },
    bool: { nodeRoutingDisabled: 2, readonlyRoleMode: 3, skipVerifyingClientCert: 4 },
  },
  "Members.cluster.talos.dev": {
    string: { nodeId: 1, hostname: 3, operatingSystem: 5 },
    address: { addresses: 2 },
    names: { machineType: [4, machineTypes] },
    message: { controlPlane: [6, controlPlane] },
  },
  "Affiliates.cluster.talos.dev": {
    string: { nodeId: 1, hostname: 3, nodename: 4, operatingSystem: 5 },
    address: { addresses: 2 },
    names: { machineType: [6, machineTypes] },
    message: { controlPlane: [8, controlPlane] },
  },
  "Identities.cluster.talos.dev": { string: { nodeId: 1 } },
  "Infos.cluster.talos.dev": { string: { clusterId: 1, clusterName: 2 } },
  "AddressStatuses.net.talos.dev": {
    prefix: { address: 1 },
    number: { linkIndex: 6, priority: 11 },
    string: { linkName: 7 },
    names: { family: [8, families], scope: [9, scopes], flags: [10, { permanent: 128 }] },
  },
  "NodeAddresses.net.talos.dev": { prefix: { addresses: 1 }, names: { sortAlgorithm: [2, { v2: 1 }] } },
  "HostnameStatuses.net.talos.dev": { string: { hostname: 1, domainname: 2 } },
  "NetworkStatuses.net.talos.dev": {
    bool: { addressReady: 1, connectivityReady: 2, hostnameReady: 3, etcFilesReady: 4 },
  },
  "LinkStatuses.net.talos.dev": {
    number: { index: 1, linkIndex: 3, mtu: 7, speedMbit: 23 },
    names: { type: [2, { ether: 1, loopback: 772 }], operationalState: [10, operationalStates] },
    hex: { hardwareAddr: 5, broadcastAddr: 6, permanentAddr: 30 },
    string: { queueDisc: 8, kind: 11, busPath: 13, driver: 15, driverVersion: 16 },
    bool: { linkState: 22 },
  },
  "RouteStatuses.net.talos.dev": {
    names: {
      family: [1, families],
      table: [7, { main: 254, local: 255 }],
      scope: [9, scopes],
      type: [10, { unicast: 1, local: 2 }],
      protocol: [12, { kernel: 2, dhcp: 16 }],
    },
    prefix: { dst: 2 },
    address: { src: 3, gateway: 4 },
    number: { outLinkIndex: 5, priority: 8 },
    string: { outLinkName: 6 },
  },
  "ResolverStatuses.net.talos.dev": { address: { dnsServers: 1 }, string: { searchDomains: 2 } },
  "TimeServerStatuses.net.talos.dev": { string: { timeServers: 1 } },
  "OperatorSpecs.net.talos.dev": {
    names: { operator: [1, { dhcp6: 1, vip: 2 }], layer: [7, layers] },
    string: { linkName: 2 },
    bool: { requireUp: 3 },
    message: {
      dhcp4: [4, { number: { routeMetric: 1 } }],
      vip: [6, { address: { ip: 1 }, bool: { gratuitousARP: 2 } }],
    },
  },
  "EtcdMembers.etcd.talos.dev": { string: { memberID: 1 } },
  "EtcdConfigs.etcd.talos.dev": { string: { image: 3 } },
  "EtcdSpecs.etcd.talos.dev": {
    string: { name: 1, image: 3 },
    address: { advertisedAddresses: 2, listenPeerAddresses: 5, listenClientAddresses: 6 },
  },
  "PKIStatuses.etcd.talos.dev": renderStatus,
  "Nodenames.kubernetes.talos.dev": { string: { nodename: 1, hostnameVersion: 2 }, bool: { skipNodeRegistration: 3 } },
  "NodeIPs.kubernetes.talos.dev": { address: { addresses: 1 } },
  "NodeStatuses.kubernetes.talos.dev": {
    string: { nodename: 1 },
    bool: { nodeReady: 2, unschedulable: 3 },
    "string-map": { labels: 4, annotations: 5 },
  },
  "KubeletConfigs.kubernetes.talos.dev": {
    string: { image: 1, clusterDNS: 2, clusterDomain: 3, staticPodListURL: 10 },
    bool: {
      defaultRuntimeSeccompEnabled: 8,
      disableManifestsDirectory: 11,
      enableFSQuotaMonitoring: 12,
      allowSchedulingOnControlPlane: 14,
    },
  },
  "KubeletSpecs.kubernetes.talos.dev": { string: { image: 1, args: 2, expectedNodename: 4 } },
  "KubePrismStatuses.kubernetes.talos.dev": { string: { host: 1 }, bool: { healthy: 2 } },
  "APIServerConfigs.kubernetes.talos.dev": {
    string: { image: 1, controlPlaneEndpoint: 3, etcdServers: 4, serviceCIDRs: 6, advertisedAddress: 11 },
    number: { localPort: 5 },
  },
  "ControllerManagerConfigs.kubernetes.talos.dev": {
    bool: { enabled: 1 },
    string: { image: 2, podCIDRs: 4, serviceCIDRs: 5 },
  },
  "SchedulerConfigs.kubernetes.talos.dev": { bool: { enabled: 1 }, string: { image: 2 }, struct: { config: 7 } },
  "BootstrapManifestsConfigs.kubernetes.talos.dev": {
    string: { server: 1, clusterDomain: 2, podCIDRs: 3, proxyImage: 5, dnsServiceIP: 9, cniName: 21 },
    bool: { proxyEnabled: 4, coreDNSEnabled: 7, flannelEnabled: 11 },
  },
  "Manifests.kubernetes.talos.dev": { message: { "@": [1, { struct: { "@": 1 } }] } },
  "ManifestStatuses.kubernetes.talos.dev": { string: { manifestsApplied: 1 } },
  "Diagnostics.runtime.talos.dev": { string: { message: 1, details: 2 } },
  "KernelParamStatuses.runtime.talos.dev": { string: { current: 1, default: 2 }, bool: { unsupported: 3 } },
  "StaticPods.kubernetes.talos.dev": { struct: { "@": 1 } },
  "StaticPodStatuses.kubernetes.talos.dev": { struct: { "@": 1 } },
  "Endpoints.kubernetes.talos.dev": { address: { addresses: 1 }, string: { hosts: 2 } },
  "SecretStatuses.kubernetes.talos.dev": renderStatus,
  "ConfigStatuses.kubernetes.talos.dev": renderStatus,
  "KubeletKubeconfigs.kubernetes.talos.dev": { string: { hash: 1 } },
  "Disks.block.talos.dev": {
    number: { size: 1, io_size: 2, sector_size: 3 },
    bool: { readonly: 4, rotational: 12, cdrom: 13 },
    string: { model: 5, serial: 6, wwid: 8, bus_path: 9, sub_system: 10, transport: 11, dev_path: 14, pretty_size: 15 },
  },
  "SystemDisks.block.talos.dev": { string: { diskID: 1, devPath: 2 } },
  "VolumeStatuses.block.talos.dev": {
    names: { phase: [1, phases], filesystem: [10, filesystems], type: [16, { disk: 1, tmpfs: 2, directory: 3 }] },
    string: { location: 2, errorMessage: 3, parentLocation: 7, prettySize: 13 },
    number: { partitionIndex: 8, size: 9 },
  },
  "DiscoveredVolumes.block.talos.dev": {
    number: { size: 1, partition_index: 13 },
    string: {
      name: 4,
      label: 6,
      partition_label: 12,
      type: 14,
      parent: 16,
      dev_path: 17,
      parent_dev_path: 18,
      pretty_size: 19,
    },
  },
  "SystemInformations.hardware.talos.dev": {
    string: { manufacturer: 1, productName: 2, version: 3, serialnumber: 4, uuid: 5, wakeUpType: 6 },
  },
  "Processors.hardware.talos.dev": {
    string: { socket: 1, manufacturer: 2, productName: 3 },
    number: { coreCount: 10, coreEnabled: 11, threadCount: 12 },
  },
  "MemoryModules.hardware.talos.dev": {
    number: { sizeMiB: 1 },
    string: { deviceLocator: 2, manufacturer: 5, productName: 8 },
  },
  "Namespaces.meta.cosi.dev": { string: { description: 1 } },
  "ResourceDefinitions.meta.cosi.dev": {
    string: { type: 1, displayType: 2, defaultNamespace: 3, aliases: 4, allAliases: 5 },
    message: { printColumns: [6, { string: { name: 1, jsonPath: 2 } }] },
    names: { sensitivity: [7, { sensitive: 1 }] },
  },
};
