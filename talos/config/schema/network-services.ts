// SPDX-License-Identifier: Apache-2.0

/** Documents of name resolution, DHCP, firewall, probes and routing. The notation is explained in `schema.ts`. */
export const networkServicesTypes: Readonly<Record<string, string>> = {
  "network.BGPInstanceConfigV1Alpha1": `
    MetaName name string
    BGPVRF vrf? string
    BGPLocalASN localASN uint32
    BGPRouterID routerID? address
    BGPRouteSource routeSource? address
    BGPAdvertise advertise? []string replace
    BGPMultipath multipath? *bool
    BGPMaxPaths maxPaths? uint8
    BGPInstallRoutes installRoutes? *bool
    BGPImportRoutes importRoutes? []network.BGPImportRoute replace
    BGPNeighborConfigs neighbors? []network.BGPNeighborConfig replace
  `,
  "network.BGPImportRoute": `
    ImportBGPInstance bgpInstance string
    ImportPrefixes prefixes []prefix
  `,
  "network.BGPNeighborConfig": `
    NeighborAddressConfig address? address
    NeighborLinkConfig link? string
    NeighborPeerASN peerASN? uint32
    NeighborLocalASN localASN? uint32
    NeighborPassive passive? bool
    NeighborHoldTime holdTime? duration
    NeighborBFDConfig bfd? *network.BGPBFDConfig
  `,
  "network.BGPBFDConfig": `
    BFDTransmitInterval transmitInterval? duration
    BFDReceiveInterval receiveInterval? duration
    BFDDetectMultiplier detectMultiplier? uint8
  `,
  "network.BlackholeRouteConfigV1Alpha1": `
    MetaName name string
    RouteMetric metric? uint32
  `,
  "network.DefaultActionConfigV1Alpha1": "Ingress ingress enum:DefaultAction",
  "network.DHCPv4ConfigV1Alpha1": `
    MetaName name string
    ConfigRouteMetric routeMetric? uint32
    ConfigIgnoreHostname ignoreHostname? *bool
    ConfigIgnoreRoutes ignoreRoutes? *bool @14
    ConfigClientIdentifier clientIdentifier? *enum:ClientIdentifier
    ConfigDUIDRaw duidRaw? hardwareAddress
  `,
  "network.DHCPv6ConfigV1Alpha1": `
    MetaName name string
    ConfigRouteMetric routeMetric? uint32
    ConfigIgnoreHostname ignoreHostname? *bool
    ConfigClientIdentifier clientIdentifier? *enum:ClientIdentifier
    ConfigDUIDRaw duidRaw? hardwareAddress
  `,
  "network.HCloudVIPConfigV1Alpha1": `
    MetaName name string
    LinkName link string
    APIToken apiToken string
  `,
  "network.HostnameConfigV1Alpha1": `
    ConfigAuto auto? *enum:AutoHostnameKind
    ConfigHostname hostname? string
  `,
  "network.HTTPProbeConfigV1Alpha1": `
    MetaName name string
    ...network.CommonProbeConfig
    HTTPEndpoint url url
    HTTPTimeout timeout? duration
  `,
  "network.KubeSpanConfigV1Alpha1": `
    ConfigEnabled enabled? *bool
    ConfigAdvertiseKubernetesNetworks advertiseKubernetesNetworks? *bool
    ConfigAllowDownPeerBypass allowDownPeerBypass? *bool
    ConfigHarvestExtraEndpoints harvestExtraEndpoints? *bool
    ConfigMTU mtu? *uint32
    ConfigFilters filters? *network.KubeSpanFiltersConfig
  `,
  "network.KubeSpanFiltersConfig": `
    ConfigEndpoints endpoints? []string
    ConfigExcludeAdvertisedNetworks excludeAdvertisedNetworks? []prefix
  `,
  "network.KubespanEndpointsConfigV1Alpha1": "ExtraAnnouncedEndpointsConfig extraAnnouncedEndpoints []addressPort",
  "network.Layer2VIPConfigV1Alpha1": `
    MetaName name string
    LinkName link string
  `,
  "network.LinkAliasConfigV1Alpha1": `
    MetaName name string
    Selector selector? network.LinkSelector
  `,
  "network.LinkSelector": "Match match? expression",
  "network.ResolverConfigV1Alpha1": `
    ResolverNameservers nameservers? []network.NameserverConfig
    ResolverSearchDomains searchDomains? network.SearchDomainsConfig
    ResolverHostDNS hostDNS? network.HostDNSConfig @14
  `,
  "network.NameserverConfig": `
    Address address address
    Protocol protocol? enum:DNSProtocol @14
    TLSServerName tlsServerName? string @14
  `,
  "network.SearchDomainsConfig": `
    SearchDomains domains? []string replace=14 keepEmpty=14
    SearchDisableDefault disableDefault? *bool
  `,
  "network.HostDNSConfig": `
    HostDNSEnabled enabled? *bool
    HostDNSForwardKubeDNSToHost forwardKubeDNSToHost? *bool
    HostDNSResolveMemberNames resolveMemberNames? *bool
  `,
  "network.RoutingRuleConfigV1Alpha1": `
    RulePriority name string
    RuleSrc src? prefix
    RuleDst dst? prefix
    RuleTable table enum:RoutingTable
    RuleAction action? enum:RoutingRuleAction
    RuleIIFName iifName? string
    RuleOIFName oifName? string
    RuleFwMark fwMark? uint32
    RuleFwMask fwMask? uint32
  `,
  "network.RuleConfigV1Alpha1": `
    MetaName name string
    PortSelector portSelector network.RulePortSelector
    Ingress ingress []network.IngressRule replace
  `,
  "network.RulePortSelector": `
    Ports ports []portRange replace
    Protocol protocol enum:Protocol
  `,
  "network.IngressRule": `
    Subnet subnet prefix
    Except except? prefix
  `,
  "network.StaticHostConfigV1Alpha1": `
    MetaName name string
    Hostnames hostnames []string
  `,
  "network.TCPProbeConfigV1Alpha1": `
    MetaName name string
    ...network.CommonProbeConfig
    TCPEndpoint endpoint string
    TCPTimeout timeout? duration
  `,
  "network.CommonProbeConfig": `
    ProbeInterval interval? duration
    ProbeFailureThreshold failureThreshold? int
  `,
  "network.TimeSyncConfigV1Alpha1": `
    TimeEnabled enabled? *bool
    TimeBootTimeout bootTimeout? duration
    TimeNTP ntp? *network.NTPConfig
    TimePTP ptp? *network.PTPConfig
  `,
  "network.NTPConfig": `
    Servers servers? []string
    UseNTS useNTS? *bool @14
  `,
  "network.PTPConfig": "Devices devices? []string",
};
