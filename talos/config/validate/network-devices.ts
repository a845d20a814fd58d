// SPDX-License-Identifier: Apache-2.0
import { base64Fault } from "../document/scalars.ts";
import { isSection, listAt, type Section, sectionAt, sectionsAt, textAt, textsAt, valueAt } from "../document/value.ts";
import { enumerations } from "../schema/enums.ts";
import { addressFault, isAddress, isNetwork } from "./addresses.ts";
import { about, type Faults, type Findings, quoted } from "./findings.ts";

const exclusive = "config sections are mutually exclusive";
const place = "networking.os.device";

/** Checks machine.network.interfaces. */
export function* deviceFindings(devices: readonly Section[]): Findings {
  const owners = new Map<string, string>();
  for (const device of devices) {
    const name = textAt(device, "interface");
    const [bond, bridge] = [sectionAt(device, "bond"), sectionAt(device, "bridge")];
    if (bond && bridge) yield `interface has both bridge and bond sections set ${quoted(name)}: ${exclusive}`;
    if (bond && listAt(bond, "interfaces").length > 0 && listAt(bond, "deviceSelectors").length > 0)
      yield `interface ${quoted(name)} has both interfaces and selectors set: ${exclusive}`;
    for (const member of textsAt(bridge ?? bond, "interfaces")) {
      const other = owners.get(member);
      if (other !== undefined && other !== name) {
        const both = `${quoted(other)} and ${quoted(name)}`;
        yield `interface ${quoted(member)} is declared as part of two separate links: ${both}`;
      }
      owners.set(member, name);
    }
  }
  for (const device of devices) {
    if (valueAt(device, "ignore") === true) continue;
    yield* interfaceFaults(device);
    yield* addressingFindings(device, owners);
    yield* routeFaults(device);
  }
}

function* interfaceFaults(device: Section): Faults {
  const name = textAt(device, "interface");
  const selector = sectionAt(device, "deviceSelector");
  const both = `[${place}.interface], [${place}.deviceSelector]`;
  if (name === "" && selector === undefined) yield `${both}: required either config section to be set`;
  if (name !== "" && selector !== undefined) yield `${both}: ${exclusive}`;
  if (selector?.size === 0) yield `[${place}.deviceSelector]: config section should contain at least one field`;
  const [bond, wireguard] = [sectionAt(device, "bond"), sectionAt(device, "wireguard")];
  if (bond !== undefined) yield* bondFaults(bond);
  if (wireguard !== undefined) yield* wireguardFaults(wireguard);
  for (const vlan of sectionsAt(device, "vlans")) yield* vlanFaults(name, vlan);
}

function* wireguardFaults(wireguard: Section): Faults {
  yield* about("private key is invalid", keyFault(textAt(wireguard, "privateKey")));
  for (const peer of sectionsAt(wireguard, "peers")) {
    yield* about("public key invalid", keyFault(textAt(peer, "publicKey")));
    const endpoint = textAt(peer, "endpoint");
    if (endpoint !== "" && !/:\d+$/.test(endpoint)) yield `peer endpoint ${quoted(endpoint)} is invalid`;
    for (const allowed of textsAt(peer, "allowedIPs"))
      if (!isNetwork(allowed)) yield `peer allowed IP ${quoted(allowed)} is invalid: invalid CIDR address: ${allowed}`;
  }
}

/** Never repeats the key: it may be a private one. */
function keyFault(key: string): string | undefined {
  const fault = base64Fault(key);
  if (fault !== undefined) return fault;
  const bytes = Buffer.from(key, "base64");
  return bytes.length === 32 ? undefined : `wrong key length: ${bytes.length}`;
}

function* vlanFaults(device: string, vlan: Section): Faults {
  const name = `${device}.${String(valueAt(vlan, "vlanId") ?? 0)}`;
  const [cidr, addresses] = [textAt(vlan, "cidr"), textsAt(vlan, "addresses")];
  if (addresses.length > 0 && cidr !== "")
    yield `[${place}.vlan] ${name}: vlan can't have both .cidr and .addresses set`;
  if (cidr !== "") yield* about(`[${place}.vlan.CIDR] ${name}`, addressFault(cidr));
  for (const address of addresses) yield* about(`[${place}.vlan.addresses] ${name}`, addressFault(address));
}

function* addressingFindings(device: Section, owners: ReadonlyMap<string, string>): Findings {
  const name = textAt(device, "interface");
  const [cidr, addresses] = [textAt(device, "cidr"), textsAt(device, "addresses")];
  const vip = valueAt(device, "vip");
  const addressed = valueAt(device, "dhcp") === true || cidr !== "" || addresses.length > 0 || vip !== undefined;
  if (owners.has(name) && addressed) {
    const rule = "bonded/bridged interface shouldn't have any addressing methods configured";
    yield `[${place}] ${quoted(name)}: ${rule}`;
  }
  if (addresses.length > 0 && cidr !== "")
    yield `[${place}] ${quoted(name)}: interface can't have both .cidr and .addresses set`;
  if (cidr !== "") {
    yield* about(`[${place}.CIDR] ${quoted(name)}`, addressFault(cidr));
    const advice = "machine.network.interface.cidr is deprecated, please use machine.network.interface.addresses";
    yield { warning: `${quoted(name)}: ${advice}` };
  }
  for (const address of addresses) yield* about(`[${place}.addresses] ${quoted(name)}`, addressFault(address));
  if (isSection(vip) && !isAddress(textAt(vip, "ip")))
    yield `[${place}.vip] failed to parse ${quoted(textAt(vip, "ip"))} as IP address`;
}

function* routeFaults(device: Section): Faults {
  for (const [index, route] of sectionsAt(device, "routes").entries()) {
    const at = `${place}.route[${index}]`;
    const [network, gateway, source] = [textAt(route, "network"), textAt(route, "gateway"), textAt(route, "source")];
    const invalid = (field: string, value: string) => `[${at}.${field}] ${quoted(value)}: invalid network address`;
    if (network !== "" && !isNetwork(network)) yield invalid("network", network);
    if (gateway !== "" && !isAddress(gateway)) yield invalid("gateway", gateway);
    if (network === "" && gateway === "") yield `[${at}]: either network or gateway should be set`;
    if (source !== "" && !isAddress(source)) yield invalid("source", source);
  }
}

/** Fields of a bond that take one of a few words, and how a wrong word is told. */
const bondWords: readonly (readonly [key: string, enumeration: string, title: string])[] = [
  ["mode", "BondMode", "bond type"],
  ["xmitHashPolicy", "BondXmitHashPolicy", "xmit hash policy"],
  ["lacpRate", "LACPRate", "lacp rate"],
  ["arpValidate", "ARPValidate", "arp_validate mode"],
  ["arpAllTargets", "ARPAllTargets", "arp_all_targets mode"],
  ["primaryReselect", "PrimaryReselect", "primary_reselect mode"],
  ["failOverMac", "FailOverMAC", "fail_over_mac value"],
  ["adSelect", "ADSelect", "ad_select mode"],
];

/** Checks a bond in the v1alpha1 form. */
function* bondFaults(bond: Section): Faults {
  for (const [key, enumeration, title] of bondWords) {
    const word = textAt(bond, key);
    if (word !== "" && !enumerations[enumeration]?.includes(word)) yield `invalid ${title} ${word}`;
  }
  const mode = textAt(bond, "mode") || "balance-rr";
  const number = (key: string): number => Number(valueAt(bond, key) ?? 0);
  const set = (key: string): boolean => textAt(bond, key) !== "";
  const monitor = number("miimon");
  for (const [key, title] of [
    ["updelay", "upDelay"],
    ["downdelay", "downDelay"],
  ] as const) {
    if (monitor === 0 && number(key) !== 0) yield `bond.${title} can't be set if miiMon is zero`;
    if (monitor !== 0 && number(key) % monitor !== 0) yield `bond.${title} should be a multiple of miiMon`;
  }
  const lacp = mode === "802.3ad";
  const balancing = mode === "balance-alb" || mode === "balance-tlb";
  const rules: readonly (readonly [boolean, string])[] = [
    [listAt(bond, "arpIPTarget").length > 0, "bond.arpIPTarget is not supported"],
    [set("lacpRate") && !lacp, "bond.lacpRate is only available in 802.3ad mode"],
    [set("adActorSystem"), "bond.adActorSystem is not supported"],
    [(lacp || balancing) && set("arpValidate"), `bond.arpValidate is not available in ${mode} mode`],
    [!(mode === "active-backup" || balancing) && set("primary"), `bond.primary is not available in ${mode} mode`],
    [(lacp || balancing) && number("arpInterval") > 0, `bond.arpInterval is not available in ${mode} mode`],
    [mode !== "balance-rr" && number("packetsPerSlave") > 1, `bond.packetsPerSlave is not available in ${mode} mode`],
    [!balancing && number("tlbDynamicLb") > 0, `bond.tlbDynamicTLB is not available in ${mode} mode`],
    [!lacp && number("adActorSysPrio") > 0, "bond.adActorSysPrio is only available in 802.3ad mode"],
    [!lacp && number("adUserPortKey") > 0, "bond.adUserPortKey is only available in 802.3ad mode"],
  ];
  for (const [broken, message] of rules) if (broken) yield message;
}
