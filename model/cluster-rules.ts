// SPDX-License-Identifier: Apache-2.0
// Rules for the settings of a whole cluster. The environment file, the constructs, the provider and the engine all hold
// them, each under its own names. Light: Terraform starts the provider once for its validation alone.
import ipaddr from "ipaddr.js";
import { TalosError } from "../talos/errors.ts";
import { Contract, TalosVersion } from "../talos/version/index.ts";
import { type clusterSettings, defaultOf, type GivenOf, clusterSettings as rows } from "./settings/index.ts";

/** The settings that rules are about; what is left out has its default. */
export interface ClusterSettings
  extends Pick<
    GivenOf<typeof clusterSettings>,
    | "domain"
    | "podCidrs"
    | "serviceCidrs"
    | "certSans"
    | "kubespan"
    | "discovery"
    | "talosVersion"
    | "configContract"
    | "previousContract"
  > {
  /** Networks or addresses of the machines, as far as they are known. */
  readonly nodes?: readonly NodeNetwork[] | undefined;
}

export interface NodeNetwork {
  /** A network, or a single address; what is neither is left out. */
  readonly cidr: string;
  /** Such as `the VPC's network`. */
  readonly what: string;
}

export type SettingKey = Exclude<keyof ClusterSettings, "nodes">;

export interface SettingViolation {
  readonly path: readonly [SettingKey, ...number[]];
  readonly found: string;
  readonly expected: string;
  readonly hint: string;
  /** A second setting that has to do with it. */
  readonly also?: readonly [SettingKey, ...number[]];
  /** The first of the `nodes` that has to do with it. */
  readonly node?: number;
}

/** `podCidrs[0]` */
export function settingPath([key, ...indices]: SettingViolation["path"]): string {
  return `${key}${indices.map((index) => `[${index}]`).join("")}`;
}

type SettingRule = (settings: ClusterSettings) => readonly SettingViolation[];

export function isDnsName(text: string): boolean {
  return /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/i.test(text);
}

/** No name ends in a number: 10.0.0.300 is an address that went wrong. */
export function isHostOrAddress(text: string): boolean {
  if (ipaddr.isValid(text)) return true;
  return /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/i.test(text) && !/(^|\.)\d+$/.test(text);
}

export const isContract = (text: string): boolean => Contract.find(text) !== undefined;
export const contractNoun = `a config contract, ${Contract.all()[0]} to ${Contract.newest()}`;

export const isCidr: (text: string) => boolean = ipaddr.isValidCIDR;

/** Whether networks have an address in common; also for single addresses. False for what is neither. */
export function overlaps(left: string, right: string): boolean {
  return haveCommonAddress(networkOf(left), networkOf(right));
}

type Network = readonly [address: ipaddr.IPv4 | ipaddr.IPv6, prefix: number];

function haveCommonAddress(a: Network | undefined, b: Network | undefined): boolean {
  if (a === undefined || b === undefined || a[0].kind() !== b[0].kind()) return false;
  return a[0].match(b[0], Math.min(a[1], b[1]));
}

function networkOf(text: string): Network | undefined {
  if (text.includes("/")) return isCidr(text) ? ipaddr.parseCIDR(text) : undefined;
  if (!ipaddr.isValid(text)) return undefined;
  const address = ipaddr.parse(text);
  return [address, address.kind() === "ipv4" ? 32 : 128];
}

const networkKeys = ["podCidrs", "serviceCidrs"] as const;

function networksOf(settings: ClusterSettings, key: (typeof networkKeys)[number]): readonly string[] {
  return settings[key] ?? (defaultOf(rows[key]) as readonly string[]);
}

function eachOf(
  keys: readonly ("podCidrs" | "serviceCidrs" | "certSans" | "domain" | "configContract" | "previousContract")[],
  holds: (text: string) => boolean,
  expected: string,
): SettingRule {
  const hint = "Change the value to what is expected.";
  return (settings) =>
    keys.flatMap((key) => {
      const value = settings[key] ?? [];
      const wrong = (text: string, ...index: readonly number[]): readonly SettingViolation[] =>
        holds(text) ? [] : [{ path: [key, ...index], found: JSON.stringify(text), expected, hint }];
      return typeof value === "string" ? wrong(value) : value.flatMap((text, index) => wrong(text, index));
    });
}

const networksGiven: SettingRule = (settings) => {
  const words = { found: "an empty list", expected: "at least 1 in the list", hint: "Add a network, or leave it out." };
  return networkKeys.flatMap((key) => (networksOf(settings, key).length > 0 ? [] : [{ path: [key], ...words }]));
};

/** Every address belongs to one pod or one service. */
const podsAndServicesApart: SettingRule = (settings) => {
  const all = networkKeys.flatMap((key) => networksOf(settings, key).map((cidr, index) => ({ key, cidr, index })));
  return all.flatMap((own, place) => {
    const other = all.slice(0, place).find(({ cidr }) => overlaps(cidr, own.cidr));
    if (other === undefined) return [];
    return [
      {
        path: [own.key, own.index],
        found: `${own.cidr}, which overlaps ${other.cidr} of ${other.key}`,
        expected: "networks that have no address in common",
        hint: "Change one of the two.",
        also: [other.key, other.index],
      },
    ];
  });
};

/** A machine with the address of a pod or a service is not reached from inside the cluster. */
const nodesApart: SettingRule = ({ nodes = [], ...settings }) => {
  // Each is parsed once: a cluster may have a thousand machines.
  const nodeNetworks = nodes.map(({ cidr }) => networkOf(cidr));
  return networkKeys.flatMap((key) =>
    networksOf(settings, key).flatMap((text, index) => {
      const network = networkOf(text);
      const node = nodeNetworks.findIndex((nodeNetwork) => haveCommonAddress(nodeNetwork, network));
      const other = nodes[node];
      if (other === undefined) return [];
      return [
        {
          path: [key, index],
          found: `${text}, which overlaps ${other.what} ${other.cidr}`,
          expected: "networks that have no address in common",
          hint: "Change one of the two.",
          node,
        },
      ];
    }),
  );
};

const kubespanDiscovers: SettingRule = ({ kubespan, discovery }) =>
  kubespan !== true || discovery !== false
    ? []
    : [
        {
          path: ["kubespan"],
          found: "kubespan with discovery: false",
          expected: "discovery, through which the machines find each other",
          hint: "Take discovery: false away, or kubespan.",
          also: ["discovery"],
        },
      ];

/** Undefined for what is no version, which is reported by itself. */
function newestContract(talosVersion: string): Contract | undefined {
  try {
    return TalosVersion.parse(talosVersion).contract;
  } catch (error) {
    if (error instanceof TalosError) return undefined;
    throw error;
  }
}

/** A machine refuses documents that its Talos does not know. */
const talosReadsContract: SettingRule = ({ talosVersion, configContract }) => {
  // One that is no contract is reported by itself.
  if (talosVersion === undefined || configContract === undefined || !isContract(configContract)) return [];
  const newest = newestContract(talosVersion);
  if (newest === undefined || Contract.parse(configContract).compare(newest) <= 0) return [];
  return [
    {
      path: ["configContract"],
      found: `${configContract} with Talos ${talosVersion}`,
      expected: `a contract that this Talos reads, up to ${newest}`,
      hint: `Upgrade Talos first, or set it to ${newest}.`,
      also: ["talosVersion"],
    },
  ];
};

/** A migration goes to a newer contract. */
const contractGoesUp: SettingRule = ({ previousContract, configContract }) => {
  if (previousContract === undefined || configContract === undefined) return [];
  if (![previousContract, configContract].every(isContract)) return [];
  if (Contract.parse(previousContract).compare(Contract.parse(configContract)) < 0) return [];
  return [
    {
      path: ["previousContract"],
      found: previousContract,
      expected: `a contract older than configContract, ${configContract}`,
      hint: "Remove it: only talosmith config migrate writes it.",
      also: ["configContract"],
    },
  ];
};

/** Of single values. The environment's schema has them as well, by the same functions. */
export const valueRules = {
  networksGiven,
  networksValid: eachOf(networkKeys, isCidr, "a network such as 10.244.0.0/16"),
  domainIsName: eachOf(["domain"], isDnsName, "a DNS name such as cluster.local"),
  certSansValid: eachOf(["certSans"], isHostOrAddress, "a host name or an IP address"),
  contractsKnown: eachOf(["configContract", "previousContract"], isContract, contractNoun),
} as const satisfies Record<string, SettingRule>;

/** Of values that are right by themselves. */
export const settingRules = {
  podsAndServicesApart,
  nodesApart,
  kubespanDiscovers,
  talosReadsContract,
  contractGoesUp,
} as const satisfies Record<string, SettingRule>;

/** All that is wrong; of settings with values that are wrong by themselves, those alone. */
export function settingViolations(settings: ClusterSettings): readonly SettingViolation[] {
  const values = Object.values(valueRules).flatMap((rule) => rule(settings));
  return values.length > 0 ? values : Object.values(settingRules).flatMap((rule) => rule(settings));
}
