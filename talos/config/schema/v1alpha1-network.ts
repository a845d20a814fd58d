// SPDX-License-Identifier: Apache-2.0

/** machine.network of the v1alpha1 document. The notation is explained in `schema.ts`. */
export const v1alpha1NetworkTypes: Readonly<Record<string, string>> = {
  "v1alpha1.NetworkConfig": `
    NetworkHostname hostname? string
    NetworkInterfaces interfaces? []*v1alpha1.Device by=interface
    NameServers nameservers? []string
    Searches searchDomains? []string
    ExtraHostEntries extraHostEntries? []*v1alpha1.ExtraHost
    NetworkKubeSpan kubespan? *v1alpha1.NetworkKubeSpan
    NetworkDisableSearchDomain disableSearchDomain? *bool
  `,
  "v1alpha1.ExtraHost": `
    HostIP ip string
    HostAliases aliases []string
  `,
  "v1alpha1.Device": `
    DeviceInterface interface? string
    DeviceSelector deviceSelector? *v1alpha1.NetworkDeviceSelector
    DeviceAddresses addresses? []string
    DeviceCIDR cidr? string
    DeviceRoutes routes? []*v1alpha1.Route
    DeviceBond bond? *v1alpha1.Bond
    DeviceBridge bridge? *v1alpha1.Bridge
    DeviceBridgePort bridgePort? *v1alpha1.BridgePort
    DeviceVlans vlans? []*v1alpha1.Vlan by=vlanId
    DeviceMTU mtu? int
    DeviceDHCP dhcp? *bool
    DeviceIgnore ignore? *bool
    DeviceDummy dummy? *bool
    DeviceDHCPOptions dhcpOptions? *v1alpha1.DHCPOptions
    DeviceWireguardConfig wireguard? *v1alpha1.DeviceWireguardConfig
    DeviceVIPConfig vip? *v1alpha1.DeviceVIPConfig
  `,
  "v1alpha1.DHCPOptions": `
    DHCPRouteMetric routeMetric uint32
    DHCPIPv4 ipv4? *bool
    DHCPIPv6 ipv6? *bool
    DHCPDUIDv6 duidv6? string
  `,
  "v1alpha1.DeviceWireguardConfig": `
    WireguardPrivateKey privateKey? string
    WireguardListenPort listenPort? int
    WireguardFirewallMark firewallMark? int
    WireguardPeers peers? []*v1alpha1.DeviceWireguardPeer
  `,
  "v1alpha1.DeviceWireguardPeer": `
    WireguardPublicKey publicKey? string
    WireguardEndpoint endpoint? string
    WireguardPersistentKeepaliveInterval persistentKeepaliveInterval? duration
    WireguardAllowedIPs allowedIPs? []string
  `,
  "v1alpha1.DeviceVIPConfig": `
    SharedIP ip? string
    EquinixMetalConfig equinixMetal? *v1alpha1.VIPEquinixMetalConfig
    HCloudConfig hcloud? *v1alpha1.VIPHCloudConfig
  `,
  "v1alpha1.VIPEquinixMetalConfig": "EquinixMetalAPIToken apiToken string",
  "v1alpha1.VIPHCloudConfig": "HCloudAPIToken apiToken string",
  "v1alpha1.Bond": `
    BondInterfaces interfaces []string
    BondDeviceSelectors deviceSelectors? []v1alpha1.NetworkDeviceSelector
    BondARPIPTarget arpIPTarget? []string
    BondMode mode string
    BondHashPolicy xmitHashPolicy? string
    BondLACPRate lacpRate? string
    BondADActorSystem adActorSystem? string
    BondARPValidate arpValidate? string
    BondARPAllTargets arpAllTargets? string
    BondPrimary primary? string
    BondPrimaryReselect primaryReselect? string
    BondFailOverMac failOverMac? string
    BondADSelect adSelect? string
    BondMIIMon miimon? uint32
    BondUpDelay updelay? uint32
    BondDownDelay downdelay? uint32
    BondARPInterval arpInterval? uint32
    BondResendIGMP resendIgmp? uint32
    BondMinLinks minLinks? uint32
    BondLPInterval lpInterval? uint32
    BondPacketsPerSlave packetsPerSlave? uint32
    BondNumPeerNotif numPeerNotif? uint8
    BondTLBDynamicLB tlbDynamicLb? uint8
    BondAllSlavesActive allSlavesActive? uint8
    BondUseCarrier useCarrier? *bool
    BondADActorSysPrio adActorSysPrio? uint16
    BondADUserPortKey adUserPortKey? uint16
    BondPeerNotifyDelay peerNotifyDelay? uint32
  `,
  "v1alpha1.STP": "STPEnabled enabled? *bool",
  "v1alpha1.BridgeVLAN": "BridgeVLANFiltering vlanFiltering? *bool",
  "v1alpha1.Bridge": `
    BridgedInterfaces interfaces []string
    BridgeSTP stp? *v1alpha1.STP
    BridgeVLAN vlan? *v1alpha1.BridgeVLAN
  `,
  "v1alpha1.BridgePort": "BridgePortMaster master? string",
  "v1alpha1.Vlan": `
    VlanAddresses addresses? []string
    VlanCIDR cidr? string
    VlanRoutes routes []*v1alpha1.Route
    VlanDHCP dhcp? *bool
    VlanID vlanId uint16
    VlanMTU mtu? uint32
    VlanVIP vip? *v1alpha1.DeviceVIPConfig
    VlanDHCPOptions dhcpOptions? *v1alpha1.DHCPOptions
  `,
  "v1alpha1.Route": `
    RouteNetwork network string
    RouteGateway gateway string
    RouteSource source? string
    RouteMetric metric? uint32
    RouteMTU mtu? uint32
  `,
  "v1alpha1.NetworkKubeSpan": `
    KubeSpanEnabled enabled? *bool
    KubeSpanAdvertiseKubernetesNetworks advertiseKubernetesNetworks? *bool
    KubeSpanAllowDownPeerBypass allowDownPeerBypass? *bool
    KubeSpanHarvestExtraEndpoints harvestExtraEndpoints? *bool
    KubeSpanMTU mtu? *uint32
    KubeSpanFilters filters? *v1alpha1.KubeSpanFilters
  `,
  "v1alpha1.KubeSpanFilters": `
    KubeSpanFiltersEndpoints endpoints? []string
    KubeSpanFiltersExcludeAdvertisedNetworks excludeAdvertisedNetworks? []string @12
  `,
  "v1alpha1.NetworkDeviceSelector": `
    NetworkDeviceBus busPath? string
    NetworkDeviceHardwareAddress hardwareAddr? string
    NetworkDevicePermanentAddress permanentAddr? string
    NetworkDevicePCIID pciID? string
    NetworkDeviceKernelDriver driver? string
    NetworkDevicePhysical physical? *bool
  `,
};
