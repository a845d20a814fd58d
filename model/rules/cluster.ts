// SPDX-License-Identifier: Apache-2.0
import ipaddr from "ipaddr.js";
import { releaseOfInstaller } from "../../talos/image/index.ts";
import { type NodeNetwork, overlaps, settingRules } from "../cluster-rules.ts";
import { knownAddresses } from "../environment/addressing.ts";
import type { Environment } from "../environment/environment.ts";
import type { Path } from "../environment/yaml-source.ts";
import { ownRuleNames } from "../resolve-cluster.ts";
import { dockerDefaults } from "../schema/index.ts";
import { error, type Rule, type Rules, warning } from "./rule.ts";

/** The network of a VPC that is made where the file does not name one. */
export const usualVpc = "10.0.0.0/16";

/** The machines' networks and addresses that an environment knows, and where it has them. */
function nodeNetworks(environment: Environment): readonly (NodeNetwork & { readonly path: Path })[] {
  switch (environment.kind) {
    case "aws":
      return [
        {
          cidr: environment.infrastructure.vpc.cidr ?? usualVpc,
          what: "the VPC's network",
          path: ["infrastructure", "vpc", "cidr"],
        },
      ];
    case "libvirt":
      return [machineNetwork(environment.infrastructure.network.cidr)];
    case "metal": {
      const { machines, network } = environment.infrastructure;
      return [
        ...(network.cidr === undefined ? [] : [machineNetwork(network.cidr)]),
        // A cluster that others made has the networks that it has.
        ...Object.entries(machines).flatMap(([name, { address, adopted }]) => {
          const path = ["infrastructure", "machines", name, "address"];
          return adopted ? [] : [{ cidr: address, what: `${name}'s address`, path }];
        }),
      ];
    }
    case "container": {
      const { engine, docker = dockerDefaults } = environment.infrastructure;
      if (engine !== "docker") return [];
      return [{ cidr: docker.cidr, what: "the containers' network", path: ["infrastructure", "docker", "cidr"] }];
    }
    default:
      return [];
  }
}

function machineNetwork(cidr: string) {
  return { cidr, what: "the machines' network", path: ["infrastructure", "network", "cidr"] };
}

function ofCluster(
  rule: (typeof settingRules)[keyof typeof settingRules],
  networks: typeof nodeNetworks = () => [],
): Rule {
  return (environment) => {
    const nodes = networks(environment);
    return rule({ ...environment.cluster, nodes }).map(({ path, also, node, ...words }) => {
      const second = also === undefined ? nodes[node ?? -1]?.path : ["cluster", ...also];
      return error({ ...words, path: ["cluster", ...path], also: second });
    });
  };
}

const offlineDiscovery: Rule = ({ cluster: { airGap, discovery } }) =>
  airGap === undefined || !discovery
    ? []
    : warning({
        path: ["cluster", "airGap"],
        found: "discovery by a service on the internet",
        expected: "discovery: false, or a discovery service of your own",
        hint: "Without the service only Kubernetes itself tells the machines of each other. Add discovery: false, or a patch with your service's endpoint.",
      });

const onlyNodeId: Rule = ({ cluster: { diskEncryption } }) =>
  (["state", "ephemeral"] as const).flatMap((volume) => {
    const keys = diskEncryption?.[volume] ?? [];
    if (keys.length === 0 || keys.some((key) => !("nodeID" in key))) return [];
    return warning({
      path: ["cluster", "diskEncryption", volume],
      found: "nodeID alone",
      expected: "a key that does not come with the machine, such as tpm or kms",
      hint: "A nodeID protects a disk that is thrown away, not a machine that is stolen.",
    });
  });

const ruleNamesUnique: Rule = ({ cluster: { firewall } }) =>
  (firewall?.rules ?? []).flatMap(({ name }, index, rules) => {
    if (!ownRuleNames.includes(name) && rules.findIndex((other) => other.name === name) === index) return [];
    return error({
      path: ["cluster", "firewall", "rules", index, "name"],
      found: `a second rule named ${name}`,
      expected: `a name of its own for each rule; ${ownRuleNames.join(", ")} are there already`,
      hint: "Rename it.",
    });
  });

/** A machine outside of `nodes` would be locked out of its own cluster. */
export const nodesCovered: Rule = (environment) => {
  const { firewall } = environment.cluster;
  if (firewall === undefined) return [];
  const isInside = (address: string) =>
    !ipaddr.isValid(address) || firewall.nodes.some((network) => overlaps(network, address));
  const outside = [...knownAddresses(environment).values()].find((address) => !isInside(address));
  if (outside === undefined) return [];
  return error({
    path: ["cluster", "firewall", "nodes"],
    found: `${firewall.nodes.join(", ")}, where ${outside} is not inside`,
    expected: "networks that hold every machine",
    hint: "Add the machines' network; they would be locked out of their own cluster.",
  });
};

/** Machines would be installed with the other release. Adopted ones have the image that they were installed with once. */
const imagesOfRelease: Rule = ({ kind, cluster, infrastructure }) => {
  const machines = kind === "metal" ? Object.entries(infrastructure.machines) : [];
  if (machines.some(([, { adopted }]) => adopted)) return [];
  const images: readonly (readonly [Path, string | undefined])[] = [
    [["cluster", "installImage"], cluster.installImage],
    ...machines.map(([name, { image }]) => [["infrastructure", "machines", name, "image"], image] as const),
  ];
  return images.flatMap(([path, image = ""]) => {
    const release = releaseOfInstaller(image);
    if (release === undefined || release === cluster.talosVersion) return [];
    return error({
      path,
      found: `an image of Talos ${release}, with talosVersion ${cluster.talosVersion}`,
      expected: `the image of ${cluster.talosVersion}`,
      hint: "Change the image's tag, or remove it: then it follows from talosVersion. `talosmith upgrade talos` changes both.",
      also: ["cluster", "talosVersion"],
    });
  });
};

/** What only files and environments have. */
export const settingsRules = {
  offlineDiscovery,
  onlyNodeId,
  ruleNamesUnique,
  imagesOfRelease,
} as const satisfies Rules;

/** The rules of every entrance, under the names that the file has. */
export const clusterRules = {
  podsAndServicesApart: ofCluster(settingRules.podsAndServicesApart),
  kubespanDiscovers: ofCluster(settingRules.kubespanDiscovers),
  talosReadsContract: ofCluster(settingRules.talosReadsContract),
  contractGoesUp: ofCluster(settingRules.contractGoesUp),
} as const satisfies Rules;

/** Needs to know the infrastructure, too. */
export const nodesApart = ofCluster(settingRules.nodesApart, nodeNetworks);
