// SPDX-License-Identifier: Apache-2.0
import { listAt, type Section, textAt, valueAt } from "../document/value.ts";
import { enumerations } from "../schema/enums.ts";
import type { Faults } from "./findings.ts";

/** Fields of a bond that take one of a few words, and how a wrong word is told. */
const words: readonly (readonly [key: string, enumeration: string, title: string])[] = [
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
export function* bondFaults(bond: Section): Faults {
  for (const [key, enumeration, title] of words) {
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
