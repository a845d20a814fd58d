// SPDX-License-Identifier: Apache-2.0

/** Documents that describe links and what is set on them. The notation is explained in `schema.ts`. */
export const networkLinksTypes: Readonly<Record<string, string>> = {
  "network.BondConfigV1Alpha1": `
    MetaName name string
    HardwareAddressConfig hardwareAddr? hardwareAddress
    BondLinks links? []string
    BondMode bondMode? *enum:BondMode
    BondMIIMon miimon? *uint32
    BondUpDelay updelay? *uint32
    BondDownDelay downdelay? *uint32
    BondUseCarrier useCarrier? *bool
    BondXmitHashPolicy xmitHashPolicy? *enum:BondXmitHashPolicy
    BondARPInterval arpInterval? *uint32
    BondARPIPTargets arpIpTargets? []address
    BondNSIP6Targets nsIp6Targets? []address
    BondARPValidate arpValidate? *enum:ARPValidate
    BondARPAllTargets arpAllTargets? *enum:ARPAllTargets
    BondLACPRate lacpRate? *enum:LACPRate
    BondFailOverMAC failOverMac? *enum:FailOverMAC
    BondADSelect adSelect? *enum:ADSelect
    BondADActorSysPrio adActorSysPrio? *uint16
    BondADUserPortKey adUserPortKey? *uint16
    BondADLACPActive adLACPActive? *enum:ADLACPActive
    BondPrimaryReselect primaryReselect? *enum:PrimaryReselect
    BondResendIGMP resendIGMP? *uint32
    BondMinLinks minLinks? *uint32
    BondLPInterval lpInterval? *uint32
    BondPacketsPerSlave packetsPerSlave? *uint32
    BondNumPeerNotif numPeerNotif? *uint8
    BondTLBDynamicLB tlbLogicalLb? *uint8
    BondAllSlavesActive allSlavesActive? *uint8
    BondPeerNotifyDelay peerNotifDelay? *uint32
    BondMissedMax missedMax? *uint8
    ...network.CommonLinkConfig
  `,
  "network.BridgeConfigV1Alpha1": `
    MetaName name string
    HardwareAddressConfig hardwareAddr? hardwareAddress
    BridgeLinks links? []string
    BridgeSTP stp? network.BridgeSTPConfig
    BridgeVLAN vlan? network.BridgeVLANConfig
    ...network.CommonLinkConfig
  `,
  "network.BridgeSTPConfig": "BridgeSTPEnabled enabled? *bool",
  "network.BridgeVLANConfig": "BridgeVLANFiltering filtering? *bool",
  "network.DummyLinkConfigV1Alpha1": `
    MetaName name string
    HardwareAddressConfig hardwareAddr? hardwareAddress
    ...network.CommonLinkConfig
  `,
  "network.EthernetConfigV1Alpha1": `
    MetaName name string
    FeaturesConfig features? {}bool
    RingsConfig rings? *network.EthernetRingsConfig
    ChannelsConfig channels? *network.EthernetChannelsConfig
    WakeOnLANConfig wakeOnLan? []enum:WOLMode @12
  `,
  "network.EthernetRingsConfig": `
    RX rx? *uint32
    TX tx? *uint32
    RXMini rx-mini? *uint32
    RXJumbo rx-jumbo? *uint32
    RXBufLen rx-buf-len? *uint32
    CQESize cqe-size? *uint32
    TXPush tx-push? *bool
    RXPush rx-push? *bool
    TXPushBufLen tx-push-buf-len? *uint32
    TCPDataSplit tcp-data-split? *bool
  `,
  "network.EthernetChannelsConfig": `
    RX rx? *uint32
    TX tx? *uint32
    Other other? *uint32
    Combined combined? *uint32
  `,
  "network.LinkConfigV1Alpha1": `
    MetaName name string
    ...network.CommonLinkConfig
  `,
  "network.CommonLinkConfig": `
    LinkUp up? *bool
    LinkMTU mtu? uint32
    LinkAddresses addresses? []network.AddressConfig
    LinkRoutes routes? []network.RouteConfig
    LinkMulticast multicast? *bool
  `,
  "network.AddressConfig": `
    AddressAddress address prefix
    AddressPriority routePriority? *uint32
  `,
  "network.RouteConfig": `
    RouteDestination destination? prefix
    RouteGateway gateway? address
    RouteSource source? address
    RouteMetric metric? uint32
    RouteMTU mtu? uint32
    RouteTable table? enum:RoutingTable
  `,
  "network.VethConfigV1Alpha1": `
    MetaName name string
    VethPeer peer network.VethPeerConfig
    ...network.CommonLinkConfig
  `,
  "network.VethPeerConfig": `
    VethPeerName name string
    ...network.CommonLinkConfig
  `,
  "network.VLANConfigV1Alpha1": `
    MetaName name string
    VLANIDConfig vlanID? uint16
    VLANModeConfig vlanMode? *enum:VLANProtocol
    ParentLinkConfig parent? string
    ...network.CommonLinkConfig
  `,
  "network.VRFConfigV1Alpha1": `
    MetaName name string
    HardwareAddressConfig hardwareAddr? hardwareAddress
    VRFLinks links? []string
    VRFTable table enum:RoutingTable
    ...network.CommonLinkConfig
  `,
  "network.WireguardConfigV1Alpha1": `
    MetaName name string
    WireguardPrivateKey privateKey? string
    WireguardListenPort listenPort? int
    WireguardFirewallMark firewallMark? int
    WireguardPeers peers? []network.WireguardPeer
    ...network.CommonLinkConfig
  `,
  "network.WireguardPeer": `
    WireguardPublicKey publicKey? string
    WireguardPresharedKey presharedKey? string
    WireguardEndpoint endpoint? addressPort
    WireguardPersistentKeepaliveInterval persistentKeepaliveInterval? duration
    WireguardAllowedIPs allowedIPs? []prefix
  `,
};
