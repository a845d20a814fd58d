// SPDX-License-Identifier: Apache-2.0
import { parseAddress, parsePrefix } from "../document/network-address.ts";
import { isSection, listAt, type Section, sectionsAt, textAt, textsAt, valueAt } from "../document/value.ts";
import { isSubnetOrAddress } from "./addresses.ts";
import type { Checks } from "./documents.ts";
import { expressionFault } from "./expressions.ts";
import { quoted } from "./findings.ts";

const unnamed = (document: Section): readonly string[] =>
  textAt(document, "name") === "" ? ["name must be specified"] : [];

/** Documents of links, addresses, name resolution, firewall and probes. */
export const networkChecks: Checks = {
  BlackholeRouteConfig: (document, { errors }) => {
    errors.push(...unnamed(document));
    const prefix = parsePrefix(textAt(document, "name"));
    if ("fault" in prefix) errors.push(`name must be a valid address prefix: ${prefix.fault}`);
  },
  BondConfig: (document, { errors, warnings }) => {
    errors.push(...unnamed(document));
    if (listAt(document, "links").length === 0) errors.push("at least one link must be specified");
    const mode = textAt(document, "bondMode");
    if (mode === "") errors.push("bond mode must be specified");
    if (mode === "802.3ad") {
      const missing = ["miimon", "updelay", "downdelay"].filter((field) => !document.has(field));
      warnings.push(...missing.map((field) => `${field} was not specified for 802.3ad bond`));
    }
    errors.push(...linkFaults(document));
  },
  BridgeConfig: (document, { errors }) => errors.push(...unnamed(document), ...linkFaults(document)),
  DHCPv4Config: (document, { errors }) => errors.push(...unnamed(document), ...duidFaults(document)),
  DHCPv6Config: (document, { errors }) => errors.push(...unnamed(document), ...duidFaults(document)),
  DummyLinkConfig: (document, { errors }) => errors.push(...unnamed(document), ...linkFaults(document)),
  EthernetConfig: (document, { errors }) => {
    if (textAt(document, "name") === "") errors.push("name is required");
  },
  HCloudVIPConfig: (document, { errors }) => {
    errors.push(...addressNameFaults(document));
    if (textAt(document, "link") === "") errors.push("link must be specified");
    if (textAt(document, "apiToken") === "") errors.push("apiToken must be specified");
  },
  HostnameConfig: (document, { errors }) => errors.push(...hostnameFaults(document)),
  KubeSpanConfig: (document, { errors }) => {
    const mtu = valueAt(document, "mtu");
    if (typeof mtu === "number" && mtu < 1280) errors.push("kubespan link MTU must be at least 1280");
    for (const text of textsAt(document, "filters.endpoints")) {
      if (!isSubnetOrAddress(text)) {
        errors.push(`KubeSpan endpoint filter is not valid: ${quoted(text.replace(/^!/, ""))}`);
      }
    }
  },
  Layer2VIPConfig: (document, { errors }) => {
    errors.push(...addressNameFaults(document));
    if (textAt(document, "link") === "") errors.push("link must be specified");
  },
  LinkConfig: (document, { errors }) => errors.push(...unnamed(document), ...linkFaults(document)),
  LinkAliasConfig: (document, { errors }) => {
    errors.push(...unnamed(document));
    const name = textAt(document, "name");
    if (name.includes("%") && !/^[^%]+%d$/.test(name)) {
      errors.push(`name ${quoted(name)} contains an invalid format verb, use %d suffix`);
    }
    const match = textAt(document, "selector.match");
    const fault = expressionFault(match, "link");
    if (match === "") errors.push("link selector is required");
    else if (fault !== undefined) errors.push(`link selector is invalid: ${fault}`);
  },
  NetworkRuleConfig: (document, { errors }) => {
    const ports = listAt(document, "portSelector.ports");
    const faults = portFaults(ports.map(String));
    const everywhere = sectionsAt(document, "ingress").some((rule) => textAt(rule, "subnet") === "");
    if (textAt(document, "name") === "") errors.push("name is required");
    else if (ports.length === 0) errors.push("portSelector.ports is required");
    else if (faults.length > 0) errors.push(...faults);
    else if (everywhere) errors.push("invalid subnet: invalid Prefix");
  },
  RoutingRuleConfig: (document, { errors }) => errors.push(...routingRuleFaults(document)),
  StaticHostConfig: (document, { errors }) => {
    const name = textAt(document, "name");
    if (name === "") errors.push("name is required");
    if ("fault" in parseAddress(name)) errors.push("name must be a valid IP address");
    if (listAt(document, "hostnames").length === 0) errors.push("at least one hostname is required");
  },
  TCPProbeConfig: (document, { errors }) => {
    if (textAt(document, "name") === "") errors.push("probe name is required");
    if (textAt(document, "endpoint") === "") errors.push("TCP probe endpoint is required");
    const timeout = textAt(document, "timeout");
    if (timeout.startsWith("-")) errors.push(`TCP probe timeout cannot be negative: ${timeout}`);
    errors.push(...probeFaults(document));
  },
  TimeSyncConfig: (document, { errors }) => {
    if (textAt(document, "bootTimeout").startsWith("-")) errors.push("bootTimeout cannot be negative");
    if (document.has("ntp") && document.has("ptp")) {
      errors.push("only one of ntp or ptp configuration can be specified");
    }
  },
  VLANConfig: (document, { errors }) => {
    errors.push(...unnamed(document));
    const id = Number(valueAt(document, "vlanID") ?? 0);
    if (id < 1 || id > 4094) errors.push("vlanID must be specified and between 1 and 4094");
    if (textAt(document, "parent") === "") errors.push("parent must be specified");
    errors.push(...linkFaults(document));
  },
  VRFConfig: (document, { errors }) => {
    errors.push(...unnamed(document));
    const table = textAt(document, "table") || "unspec";
    if (["unspec", "local", "main", "default"].includes(table)) {
      errors.push(`cannot create vrf with reserved table ${table}`);
    }
    errors.push(...linkFaults(document));
  },
  WireguardConfig: (document, { errors }) =>
    errors.push(...unnamed(document), ...wireguardFaults(document), ...linkFaults(document)),
};

function duidFaults(document: Section): readonly string[] {
  const [raw, identifier] = [textAt(document, "duidRaw"), textAt(document, "clientIdentifier")];
  if (raw !== "" && identifier !== "duid") return ["duidRaw can only be set if clientIdentifier is 'duid'"];
  return raw === "" && identifier === "duid" ? ["duidRaw must be set if clientIdentifier is 'duid'"] : [];
}

function addressNameFaults(document: Section): readonly string[] {
  const name = textAt(document, "name");
  if (name === "") return ["name must be specified"];
  const parsed = parseAddress(name);
  return "fault" in parsed ? [`name must be a valid IP address: ${parsed.fault}`] : [];
}

function hostnameFaults(document: Section): readonly string[] {
  const faults: string[] = [];
  const [auto, hostname] = [textAt(document, "auto"), textAt(document, "hostname")];
  if (auto === "" && hostname === "") faults.push("either 'auto' or 'hostname' must be set");
  if (!["", "off"].includes(auto) && hostname !== "")
    faults.push("'auto' and 'hostname' cannot be set at the same time");
  if (auto === "talos-addr") faults.push("invalid value for 'auto': talos-addr");
  if (hostname === "") return faults;
  if (hostname.length > 253) faults.push(`fqdn is too long: ${hostname.length}`);
  const [label = ""] = hostname.split(".");
  if (label.length === 0 || label.length > 63) faults.push(`invalid hostname ${quoted(label)}`);
  return faults;
}

/** Checks what all probes have. */
export function probeFaults(document: Section): readonly string[] {
  const interval = textAt(document, "interval");
  const threshold = valueAt(document, "failureThreshold");
  const faults: string[] = [];
  if (interval.startsWith("-")) faults.push(`probe interval cannot be negative: ${interval}`);
  if (typeof threshold === "number" && threshold < 0)
    faults.push(`probe failure threshold cannot be negative: ${threshold}`);
  return faults;
}

/** Checks the addresses and routes of a link. */
export function linkFaults(document: Section): readonly string[] {
  const faults: string[] = [];
  sectionsAt(document, "addresses").forEach((address, index) => {
    const prefix = textAt(address, "address");
    if (prefix === "") faults.push(`address ${index} must be specified`);
    else if (isUnspecified(prefix)) faults.push(`address ${index} must be a valid IP address`);
  });
  sectionsAt(document, "routes").forEach((route, index) => {
    if (isUnspecified(textAt(route, "destination")))
      faults.push(`route ${index} destination must be a valid IP prefix`);
    if (isUnspecified(textAt(route, "gateway"))) faults.push(`route ${index} gateway must be a valid IP address`);
    if (isUnspecified(textAt(route, "source"))) faults.push(`route ${index} source must be a valid IP address`);
  });
  return faults;
}

function isUnspecified(text: string): boolean {
  return /^(?:0\.0\.0\.0|::)(?:\/\d+)?$/.test(text);
}

function portFaults(ports: readonly string[]): readonly string[] {
  const ranges = ports.map((port) => {
    const [low = 0, high = low] = port.split("-").map(Number);
    return { low, high, text: `${low}-${high}` };
  });
  ranges.sort((left, right) => left.low - right.low);
  for (const [index, range] of ranges.entries()) {
    if (range.low > range.high) return [`invalid port range: ${range.text}`];
    const previous = ranges[index - 1];
    if (previous !== undefined && range.low <= previous.high) {
      return [`invalid port range: ${range.text}, overlaps with ${previous.text}`];
    }
  }
  return [];
}

const reservedPriorities = [0, 32500, 32766, 32767];

function routingRuleFaults(document: Section): readonly string[] {
  const faults: string[] = [];
  const name = textAt(document, "name");
  if (name === "") faults.push("name must be specified");
  if (!/^\d+$/.test(name) || Number(name) > 4294967295) {
    const reason = `strconv.ParseUint: parsing ${quoted(name)}: invalid syntax`;
    faults.push(`invalid name: must be priority parsable unsigned integer: ${reason}`);
  }
  if (reservedPriorities.includes(Number(name) || 0)) {
    faults.push(
      `priority must be between 1 and 32765 (excluding reserved priorities [${reservedPriorities.join(" ")}])`,
    );
  }
  const [table, action] = [textAt(document, "table") || "unspec", textAt(document, "action") || "unspec"];
  if (table === "unspec" && ["unspec", "unicast"].includes(action)) {
    faults.push("either table or a non-unicast action must be specified");
  }
  if (valueAt(document, "fwMask") && !valueAt(document, "fwMark")) faults.push("fwMask requires fwMark to be set");
  return faults;
}

function wireguardFaults(document: Section): readonly string[] {
  const faults: string[] = [];
  const key = textAt(document, "privateKey");
  const fault = keyFault(key);
  if (key === "") faults.push("wireguard private key must be specified");
  else if (fault !== undefined) faults.push(`wireguard private key is invalid: ${fault}`);
  const port = Number(valueAt(document, "listenPort") ?? 0);
  if (port < 0 || port > 65535) faults.push("wireguard listen port must be between 0 and 65535");
  listAt(document, "peers")
    .filter(isSection)
    .forEach((peer, index) => {
      const at = `(peer index ${index})`;
      const publicKey = textAt(peer, "publicKey");
      const publicFault = keyFault(publicKey);
      if (publicKey === "") faults.push(`wireguard peer public key must be specified ${at}`);
      else if (publicFault !== undefined) faults.push(`wireguard peer public key is invalid ${at}: ${publicFault}`);
      const shared = textAt(peer, "presharedKey");
      const sharedFault = shared === "" ? undefined : keyFault(shared);
      if (sharedFault !== undefined) faults.push(`wireguard peer preshared key is invalid ${at}: ${sharedFault}`);
      if (textAt(peer, "persistentKeepaliveInterval").startsWith("-")) {
        faults.push(`wireguard peer persistent keepalive interval cannot be negative ${at}`);
      }
    });
  return faults;
}

function keyFault(key: string): string | undefined {
  const bytes = Buffer.from(key, "base64");
  if (bytes.toString("base64") !== key) return "illegal base64 data";
  return bytes.length === 32 ? undefined : "invalid wireguard key length";
}
