// SPDX-License-Identifier: Apache-2.0
import { parseAddress, parsePrefix } from "../document/network-address.ts";
import { base64Fault } from "../document/scalars.ts";
import { listAt, type Section, sectionAt, sectionsAt, textAt, textsAt, valueAt } from "../document/value.ts";
import { isAddress, subnetFaults, urlParts } from "./addresses.ts";
import { checkBgpInstance } from "./bgp.ts";
import { selectorFaults } from "./expressions.ts";
import { about, type Checks, every, type Faults, type Findings, quoted, requires, unset } from "./findings.ts";

const named = requires({ name: "name must be specified" });

/** Documents of links, addresses, name resolution, firewall and probes. */
export const networkChecks: Checks = {
  BGPInstanceConfig: checkBgpInstance,
  *BlackholeRouteConfig(document) {
    yield* named(document);
    const prefix = parsePrefix(textAt(document, "name"));
    if ("fault" in prefix) yield `name must be a valid address prefix: ${prefix.fault}`;
  },
  *BondConfig(document) {
    yield* named(document);
    if (listAt(document, "links").length === 0) yield "at least one link must be specified";
    yield* unset(document, { bondMode: "bond mode must be specified" });
    if (textAt(document, "bondMode") === "802.3ad")
      for (const field of ["miimon", "updelay", "downdelay"])
        if (!document.has(field)) yield { warning: `${field} was not specified for 802.3ad bond` };
    yield* linkFaults(document);
  },
  BridgeConfig: every(named, linkFaults),
  DHCPv4Config: every(named, duidFaults),
  DHCPv6Config: every(named, duidFaults),
  DummyLinkConfig: every(named, linkFaults),
  EthernetConfig: requires({ name: "name is required" }),
  HCloudVIPConfig: every(
    addressNameFaults,
    requires({ link: "link must be specified", apiToken: "apiToken must be specified" }),
  ),
  *HostnameConfig(document) {
    const [auto, hostname] = [textAt(document, "auto"), textAt(document, "hostname")];
    if (auto === "" && hostname === "") yield "either 'auto' or 'hostname' must be set";
    if (!["", "off"].includes(auto) && hostname !== "") yield "'auto' and 'hostname' cannot be set at the same time";
    if (auto === "talos-addr") yield "invalid value for 'auto': talos-addr";
    if (hostname === "") return;
    if (hostname.length > 253) yield `fqdn is too long: ${hostname.length}`;
    const [label = ""] = hostname.split(".");
    if (label.length === 0 || label.length > 63) yield `invalid hostname ${quoted(label)}`;
  },
  *HTTPProbeConfig(document) {
    yield* unset(document, { name: "probe name is required" });
    const url = textAt(document, "url");
    const { scheme, host } = urlParts(url);
    if (url === "") yield "HTTP probe URL is required";
    else if (scheme !== "http" && scheme !== "https")
      yield `HTTP probe URL scheme must be http or https, got ${quoted(scheme)}`;
    else if (host === "") yield "HTTP probe URL must be an absolute http or https URL with a non-empty host";
    yield* probeFaults(document, "HTTP");
  },
  *KubeSpanConfig(document) {
    const mtu = valueAt(document, "mtu");
    if (typeof mtu === "number" && mtu < 1280) yield "kubespan link MTU must be at least 1280";
    yield* subnetFaults(textsAt(document, "filters.endpoints"), "KubeSpan endpoint filter");
  },
  Layer2VIPConfig: every(addressNameFaults, requires({ link: "link must be specified" })),
  LinkConfig: every(named, linkFaults),
  *LinkAliasConfig(document) {
    yield* named(document);
    const name = textAt(document, "name");
    if (name.includes("%") && !/^[^%]+%d$/.test(name))
      yield `name ${quoted(name)} contains an invalid format verb, use %d suffix`;
    yield* selectorFaults(textAt(document, "selector.match"), "link", "link selector");
  },
  *NetworkRuleConfig(document) {
    const ports = listAt(document, "portSelector.ports");
    const fault = portFault(ports.map(String));
    if (textAt(document, "name") === "") yield "name is required";
    else if (ports.length === 0) yield "portSelector.ports is required";
    else if (fault !== undefined) yield fault;
    else if (sectionsAt(document, "ingress").some((rule) => textAt(rule, "subnet") === ""))
      yield "invalid subnet: invalid Prefix";
  },
  *ResolverConfig(document, rules) {
    if (rules.checksResolvers) yield* resolverFindings(document);
  },
  *RoutingRuleConfig(document) {
    yield* named(document);
    const name = textAt(document, "name");
    if (!/^\d+$/.test(name) || Number(name) > 4294967295) {
      const reason = `strconv.ParseUint: parsing ${quoted(name)}: invalid syntax`;
      yield `invalid name: must be priority parsable unsigned integer: ${reason}`;
    }
    if (reservedPriorities.includes(Number(name) || 0))
      yield `priority must be between 1 and 32765 (excluding reserved priorities [${reservedPriorities.join(" ")}])`;
    const [table, action] = [textAt(document, "table") || "unspec", textAt(document, "action") || "unspec"];
    if (table === "unspec" && ["unspec", "unicast"].includes(action))
      yield "either table or a non-unicast action must be specified";
    if (valueAt(document, "fwMask") && !valueAt(document, "fwMark")) yield "fwMask requires fwMark to be set";
  },
  *StaticHostConfig(document) {
    yield* unset(document, { name: "name is required" });
    if ("fault" in parseAddress(textAt(document, "name"))) yield "name must be a valid IP address";
    if (listAt(document, "hostnames").length === 0) yield "at least one hostname is required";
  },
  *TCPProbeConfig(document) {
    yield* unset(document, { name: "probe name is required", endpoint: "TCP probe endpoint is required" });
    yield* probeFaults(document, "TCP");
  },
  *TimeSyncConfig(document) {
    if (textAt(document, "bootTimeout").startsWith("-")) yield "bootTimeout cannot be negative";
    if (document.has("ntp") && document.has("ptp")) yield "only one of ntp or ptp configuration can be specified";
    for (const server of valueAt(document, "ntp.useNTS") === true ? textsAt(document, "ntp.servers") : [])
      if (isAddress(server))
        yield { error: `NTS requires hostnames, not IP addresses: ${quoted(server)}`, path: "ntp.servers" };
  },
  *VethConfig(document) {
    const [name, peer] = [textAt(document, "name"), textAt(document, "peer.name")];
    yield* linkNameFaults("name", name);
    yield* linkNameFaults("peer name", peer);
    if (name !== "" && name === peer) yield "name and peer name must be different";
    yield* linkFaults(document);
    yield* linkFaults(sectionAt(document, "peer"));
  },
  *VLANConfig(document) {
    yield* named(document);
    const id = Number(valueAt(document, "vlanID") ?? 0);
    if (id < 1 || id > 4094) yield "vlanID must be specified and between 1 and 4094";
    yield* unset(document, { parent: "parent must be specified" });
    yield* linkFaults(document);
  },
  *VRFConfig(document) {
    yield* named(document);
    const table = textAt(document, "table") || "unspec";
    if (["unspec", "local", "main", "default"].includes(table)) yield `cannot create vrf with reserved table ${table}`;
    yield* linkFaults(document);
  },
  WireguardConfig: every(named, wireguardFaults, linkFaults),
};

function* resolverFindings(document: Section): Findings {
  const hostDns = sectionAt(document, "hostDNS");
  for (const key of ["forwardKubeDNSToHost", "resolveMemberNames"])
    if (valueAt(hostDns, "enabled") !== true && valueAt(hostDns, key) === true)
      yield { error: `hostDNS.${key} cannot be enabled when hostDNS.enabled is false`, path: `hostDNS.${key}` };
  const servers = sectionsAt(document, "nameservers");
  const plain = servers.filter((server) => ["", "Do53"].includes(textAt(server, "protocol")));
  for (const [index, server] of servers.entries()) {
    const [name, protocol] = [textAt(server, "tlsServerName"), textAt(server, "protocol") || "Do53"];
    const path = `nameservers[${index}]`;
    if (protocol !== "Do53" && name === "")
      yield { error: `tlsServerName must be set when protocol is ${protocol}: entry ${index}`, path };
    if (protocol === "Do53" && name !== "")
      yield { error: `tlsServerName must be empty when protocol is ${protocol}: entry ${index}`, path };
    if (textAt(server, "address") === "")
      yield { error: `nameserver address must be a valid IP: entry ${index}`, path };
  }
  if (servers.length === 0 || plain.length > 0) return;
  const warning =
    "all configured nameservers use encrypted DNS (DoT or DoH): validating certificates requires a correct system clock, " +
    "so boot may stall when NTP servers are configured by hostname; consider keeping at least one plain-DNS fallback " +
    "or configuring NTP servers by IP address";
  yield { warning, path: "nameservers" };
}

const reservedPriorities = [0, 32500, 32766, 32767];

function* duidFaults(document: Section): Faults {
  const [raw, identifier] = [textAt(document, "duidRaw"), textAt(document, "clientIdentifier")];
  if (raw !== "" && identifier !== "duid") yield "duidRaw can only be set if clientIdentifier is 'duid'";
  if (raw === "" && identifier === "duid") yield "duidRaw must be set if clientIdentifier is 'duid'";
}

function* addressNameFaults(document: Section): Faults {
  const name = textAt(document, "name");
  const parsed = parseAddress(name);
  if (name === "") yield "name must be specified";
  else if ("fault" in parsed) yield `name must be a valid IP address: ${parsed.fault}`;
}

/** Checks what all probes have. */
function* probeFaults(document: Section, protocol: string): Faults {
  const [timeout, interval] = [textAt(document, "timeout"), textAt(document, "interval")];
  const threshold = valueAt(document, "failureThreshold");
  if (timeout.startsWith("-")) yield `${protocol} probe timeout cannot be negative: ${timeout}`;
  if (interval.startsWith("-")) yield `probe interval cannot be negative: ${interval}`;
  if (typeof threshold === "number" && threshold < 0) yield `probe failure threshold cannot be negative: ${threshold}`;
}

/** Checks the addresses and routes of a link. */
function* linkFaults(document: Section | undefined): Faults {
  for (const [index, address] of sectionsAt(document, "addresses").entries()) {
    const prefix = textAt(address, "address");
    if (prefix === "") yield `address ${index} must be specified`;
    else if (isUnspecified(prefix)) yield `address ${index} must be a valid IP address`;
  }
  for (const [index, route] of sectionsAt(document, "routes").entries()) {
    if (isUnspecified(textAt(route, "destination"))) yield `route ${index} destination must be a valid IP prefix`;
    for (const key of ["gateway", "source"])
      if (isUnspecified(textAt(route, key))) yield `route ${index} ${key} must be a valid IP address`;
  }
}

function isUnspecified(text: string): boolean {
  return /^(?:0\.0\.0\.0|::)(?:\/\d+)?$/.test(text);
}

function* linkNameFaults(field: string, name: string): Faults {
  if (name === "") yield `${field} must be specified`;
  else if (Buffer.byteLength(name) > 15) yield `${field} must not exceed 15 bytes`;
  else if (name === "." || name === "..") yield `${field} must not be ${quoted(name)}`;
  else if (/[/:]/.test(name)) yield `${field} must not contain '/' or ':'`;
  else if (/[\s\p{C}]/u.test(name)) yield `${field} must not contain whitespace or non-printable characters`;
}

function portFault(ports: readonly string[]): string | undefined {
  const ranges = ports.map((port) => {
    const [low = 0, high = low] = port.split("-").map(Number);
    return { low, high, text: `${low}-${high}` };
  });
  ranges.sort((left, right) => left.low - right.low);
  for (const [index, range] of ranges.entries()) {
    if (range.low > range.high) return `invalid port range: ${range.text}`;
    const previous = ranges[index - 1];
    if (previous !== undefined && range.low <= previous.high)
      return `invalid port range: ${range.text}, overlaps with ${previous.text}`;
  }
  return undefined;
}

function* wireguardFaults(document: Section): Faults {
  const key = textAt(document, "privateKey");
  if (key === "") yield "wireguard private key must be specified";
  else yield* about("wireguard private key is invalid", keyFault(key));
  const port = Number(valueAt(document, "listenPort") ?? 0);
  if (port < 0 || port > 65535) yield "wireguard listen port must be between 0 and 65535";
  for (const [index, peer] of sectionsAt(document, "peers").entries()) {
    const at = `(peer index ${index})`;
    const [publicKey, shared] = [textAt(peer, "publicKey"), textAt(peer, "presharedKey")];
    if (publicKey === "") yield `wireguard peer public key must be specified ${at}`;
    else yield* about(`wireguard peer public key is invalid ${at}`, keyFault(publicKey));
    if (shared !== "") yield* about(`wireguard peer preshared key is invalid ${at}`, keyFault(shared));
    if (textAt(peer, "persistentKeepaliveInterval").startsWith("-"))
      yield `wireguard peer persistent keepalive interval cannot be negative ${at}`;
  }
}

function keyFault(key: string): string | undefined {
  const fault = base64Fault(key);
  if (fault !== undefined) return fault;
  const bytes = Buffer.from(key, "base64");
  return bytes.length === 32 ? undefined : "invalid wireguard key length";
}
