// SPDX-License-Identifier: Apache-2.0
import { given } from "../../talos/given.ts";
import { type NodeNetwork, settingRules } from "../cluster-rules.ts";
import type { Environment } from "../environment/environment.ts";
import type { Path } from "../environment/yaml-source.ts";
import { dockerDefaults } from "../schema/index.ts";
import { error, type Rule } from "./rule.ts";

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
      return error({ ...words, path: ["cluster", ...path], ...given({ also: second }) });
    });
  };
}

/** The rules of every entrance, under the names that the file has. */
export const clusterRules = {
  podsAndServicesApart: ofCluster(settingRules.podsAndServicesApart),
  kubespanDiscovers: ofCluster(settingRules.kubespanDiscovers),
} as const satisfies Record<string, Rule>;

/** Needs to know the infrastructure, too. */
export const nodesApart = ofCluster(settingRules.nodesApart, nodeNetworks);
