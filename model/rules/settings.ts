// SPDX-License-Identifier: Apache-2.0
import ipaddr from "ipaddr.js";
import { addressesOf } from "../environment/addressing.ts";
import type { Environment } from "../environment/environment.ts";
import { ownRuleNames } from "../resolve-cluster.ts";
import { error, type Rule, warning } from "./rule.ts";

const offlineDiscovery: Rule = ({ cluster: { airGap, discovery } }) =>
  airGap === undefined || !discovery
    ? []
    : [
        warning({
          path: ["cluster", "airGap"],
          found: "discovery by a service on the internet",
          expected: "discovery: false, or a discovery service of your own",
          hint: "Without the service only Kubernetes itself tells the machines of each other. Add discovery: false, or a patch with your service's endpoint.",
        }),
      ];

const onlyNodeId: Rule = ({ cluster: { diskEncryption } }) =>
  (["state", "ephemeral"] as const).flatMap((volume) => {
    const keys = diskEncryption?.[volume] ?? [];
    if (keys.length === 0 || keys.some((key) => !("nodeID" in key))) return [];
    return [
      warning({
        path: ["cluster", "diskEncryption", volume],
        found: "nodeID alone",
        expected: "a key that does not come with the machine, such as tpm or kms",
        hint: "A nodeID protects a disk that is thrown away, not a machine that is stolen.",
      }),
    ];
  });

const ruleNamesUnique: Rule = ({ cluster: { firewall } }) =>
  (firewall?.rules ?? []).flatMap(({ name }, index, rules) => {
    if (!ownRuleNames.includes(name) && rules.findIndex((other) => other.name === name) === index) return [];
    return [
      error({
        path: ["cluster", "firewall", "rules", index, "name"],
        found: `a second rule named ${name}`,
        expected: `a name of its own for each rule; ${ownRuleNames.join(", ")} are there already`,
        hint: "Rename it.",
      }),
    ];
  });

function knownAddresses(environment: Environment): readonly string[] {
  if (environment.kind === "metal") return Object.values(environment.infrastructure.machines).map((m) => m.address);
  if (environment.kind !== "libvirt") return [];
  return addressesOf(environment).flatMap(({ address }) => address ?? []);
}

/** A machine outside of `nodes` would be locked out of its own cluster. */
export const nodesCovered: Rule = (environment) => {
  const { firewall } = environment.cluster;
  if (firewall === undefined) return [];
  const inside = (address: string) =>
    !ipaddr.isValid(address) ||
    firewall.nodes.some((text) => {
      const [network, prefix] = ipaddr.parseCIDR(text);
      const parsed = ipaddr.parse(address);
      return parsed.kind() === network.kind() && parsed.match(network, prefix);
    });
  const outside = knownAddresses(environment).find((address) => !inside(address));
  if (outside === undefined) return [];
  return [
    error({
      path: ["cluster", "firewall", "nodes"],
      found: `${firewall.nodes.join(", ")}, where ${outside} is not inside`,
      expected: "networks that hold every machine",
      hint: "Add the machines' network; they would be locked out of their own cluster.",
    }),
  ];
};

export const settingsRules = {
  offlineDiscovery,
  onlyNodeId,
  ruleNamesUnique,
} as const satisfies Record<string, Rule>;
