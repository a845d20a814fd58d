// SPDX-License-Identifier: Apache-2.0

/** The words that fields of enumerated types accept. The first is what an unset field means, where there is such a word. */
export const enumerations: Readonly<Record<string, readonly string[]>> = {
  ADLACPActive: ["off", "on"],
  ADSelect: ["stable", "bandwidth", "count"],
  ARPAllTargets: ["any", "all"],
  ARPValidate: ["none", "active", "backup", "all", "filter", "filter-active", "filter-backup"],
  AutoHostnameKind: ["off", "talos-addr", "stable"],
  BondMode: ["balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad", "balance-tlb", "balance-alb"],
  BondXmitHashPolicy: ["layer2", "layer3+4", "layer2+3", "encap2+3", "encap3+4"],
  ClientIdentifier: ["none", "mac", "duid"],
  DNSProtocol: ["Do53", "DoT", "DoH"],
  DefaultAction: ["accept", "block"],
  EncryptionProviderType: ["none", "luks2"],
  FailOverMAC: ["none", "active", "follow"],
  FilesystemType: ["none", "xfs", "vfat", "ext4", "iso9660", "swapi", "virtiofs", "btrfs"],
  LACPRate: ["slow", "fast"],
  LVMLogicalVolumeType: ["linear", "raid1", "raid0", "raid10"],
  MDLevel: ["raid1"],
  MDMetadata: ["1.0", "1.2"],
  PrimaryReselect: ["always", "better", "failure"],
  Protocol: ["icmp", "tcp", "udp", "icmpv6"],
  RoutingRuleAction: ["unspec", "unicast", "blackhole", "unreachable", "prohibit"],
  RoutingTable: ["unspec", "default", "main", "local", ...Array.from({ length: 252 }, (_, index) => String(index + 1))],
  VLANProtocol: ["802.1q", "802.1ad"],
  VolumeType: ["partition", "disk", "tmpfs", "directory", "symlink", "overlay", "external"],
  WOLMode: ["phy", "unicast", "multicast", "broadcast", "magic", "magicsecure", "filter"],
};

/** What an unset field of the type means; empty when no word says so. */
export function zeroWord(name: string): string {
  return name === "Protocol" ? "" : (enumerations[name]?.[0] ?? "");
}
