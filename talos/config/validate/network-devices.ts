// SPDX-License-Identifier: Apache-2.0
import { isSection, listAt, type Section, sectionAt, sectionsAt, textAt, textsAt, valueAt } from "../document/value.ts";
import { addressFault, isAddress, isNetwork } from "./addresses.ts";
import { bondFaults } from "./bonds.ts";
import { type Findings, quoted } from "./findings.ts";

const exclusive = "config sections are mutually exclusive";
const place = "networking.os.device";

/** Checks machine.network.interfaces. */
export function checkDevices(devices: readonly Section[], { errors, warnings }: Findings): void {
  const owners = new Map<string, string>();
  for (const device of devices) {
    const name = textAt(device, "interface");
    const [bond, bridge] = [sectionAt(device, "bond"), sectionAt(device, "bridge")];
    if (bond && bridge) errors.push(`interface has both bridge and bond sections set ${quoted(name)}: ${exclusive}`);
    if (bond && listAt(bond, "interfaces").length > 0 && listAt(bond, "deviceSelectors").length > 0) {
      errors.push(`interface ${quoted(name)} has both interfaces and selectors set: ${exclusive}`);
    }
    for (const member of textsAt(bridge ?? bond, "interfaces")) {
      const other = owners.get(member);
      if (other !== undefined && other !== name) {
        const both = `${quoted(other)} and ${quoted(name)}`;
        errors.push(`interface ${quoted(member)} is declared as part of two separate links: ${both}`);
      }
      owners.set(member, name);
    }
  }
  for (const device of devices) {
    if (valueAt(device, "ignore") === true) continue;
    errors.push(...interfaceFaults(device));
    checkAddressing(device, owners, { errors, warnings });
    errors.push(...routeFaults(device));
  }
}

function interfaceFaults(device: Section): readonly string[] {
  const faults: string[] = [];
  const name = textAt(device, "interface");
  const selector = sectionAt(device, "deviceSelector");
  const both = `[${place}.interface], [${place}.deviceSelector]`;
  if (name === "" && selector === undefined) faults.push(`${both}: required either config section to be set`);
  if (name !== "" && selector !== undefined) faults.push(`${both}: ${exclusive}`);
  if (selector !== undefined && selector.size === 0) {
    faults.push(`[${place}.deviceSelector]: config section should contain at least one field`);
  }
  const [bond, wireguard] = [sectionAt(device, "bond"), sectionAt(device, "wireguard")];
  if (bond !== undefined) faults.push(...bondFaults(bond));
  if (wireguard !== undefined) faults.push(...wireguardFaults(wireguard));
  for (const vlan of sectionsAt(device, "vlans")) faults.push(...vlanFaults(name, vlan));
  return faults;
}

function wireguardFaults(wireguard: Section): readonly string[] {
  const faults: string[] = [];
  const privateFault = keyFault(textAt(wireguard, "privateKey"));
  if (privateFault !== undefined) faults.push(`private key is invalid: ${privateFault}`);
  for (const peer of sectionsAt(wireguard, "peers")) {
    const publicFault = keyFault(textAt(peer, "publicKey"));
    if (publicFault !== undefined) faults.push(`public key invalid: ${publicFault}`);
    const endpoint = textAt(peer, "endpoint");
    if (endpoint !== "" && !/:\d+$/.test(endpoint)) faults.push(`peer endpoint ${quoted(endpoint)} is invalid`);
    for (const allowed of textsAt(peer, "allowedIPs")) {
      if (!isNetwork(allowed))
        faults.push(`peer allowed IP ${quoted(allowed)} is invalid: invalid CIDR address: ${allowed}`);
    }
  }
  return faults;
}

/** Never repeats the key: it may be a private one. */
function keyFault(key: string): string | undefined {
  const bytes = Buffer.from(key, "base64");
  if (bytes.toString("base64") !== key) return "illegal base64 data";
  return bytes.length === 32 ? undefined : `wrong key length: ${bytes.length}`;
}

function vlanFaults(device: string, vlan: Section): readonly string[] {
  const name = `${device}.${String(valueAt(vlan, "vlanId") ?? 0)}`;
  const faults: string[] = [];
  const [cidr, addresses] = [textAt(vlan, "cidr"), textsAt(vlan, "addresses")];
  if (addresses.length > 0 && cidr !== "") {
    faults.push(`[${place}.vlan] ${name}: vlan can't have both .cidr and .addresses set`);
  }
  const cidrFault = cidr === "" ? undefined : addressFault(cidr);
  if (cidrFault !== undefined) faults.push(`[${place}.vlan.CIDR] ${name}: ${cidrFault}`);
  for (const address of addresses) {
    const fault = addressFault(address);
    if (fault !== undefined) faults.push(`[${place}.vlan.addresses] ${name}: ${fault}`);
  }
  return faults;
}

function checkAddressing(device: Section, owners: ReadonlyMap<string, string>, { errors, warnings }: Findings): void {
  const name = textAt(device, "interface");
  const [cidr, addresses] = [textAt(device, "cidr"), textsAt(device, "addresses")];
  const vip = valueAt(device, "vip");
  const addressed = valueAt(device, "dhcp") === true || cidr !== "" || addresses.length > 0 || vip !== undefined;
  if (owners.has(name) && addressed) {
    const rule = "bonded/bridged interface shouldn't have any addressing methods configured";
    errors.push(`[${place}] ${quoted(name)}: ${rule}`);
  }
  if (addresses.length > 0 && cidr !== "") {
    errors.push(`[${place}] ${quoted(name)}: interface can't have both .cidr and .addresses set`);
  }
  if (cidr !== "") {
    const fault = addressFault(cidr);
    if (fault !== undefined) errors.push(`[${place}.CIDR] ${quoted(name)}: ${fault}`);
    const advice = "machine.network.interface.cidr is deprecated, please use machine.network.interface.addresses";
    warnings.push(`${quoted(name)}: ${advice}`);
  }
  for (const address of addresses) {
    const fault = addressFault(address);
    if (fault !== undefined) errors.push(`[${place}.addresses] ${quoted(name)}: ${fault}`);
  }
  if (isSection(vip) && !isAddress(textAt(vip, "ip"))) {
    errors.push(`[${place}.vip] failed to parse ${quoted(textAt(vip, "ip"))} as IP address`);
  }
}

function routeFaults(device: Section): readonly string[] {
  return sectionsAt(device, "routes").flatMap((route, index) => {
    const at = `${place}.route[${index}]`;
    const [network, gateway, source] = [textAt(route, "network"), textAt(route, "gateway"), textAt(route, "source")];
    const faults: string[] = [];
    const invalid = (field: string, value: string): void => {
      faults.push(`[${at}.${field}] ${quoted(value)}: invalid network address`);
    };
    if (network !== "" && !isNetwork(network)) invalid("network", network);
    if (gateway !== "" && !isAddress(gateway)) invalid("gateway", gateway);
    if (network === "" && gateway === "") faults.push(`[${at}]: either network or gateway should be set`);
    if (source !== "" && !isAddress(source)) invalid("source", source);
    return faults;
  });
}
