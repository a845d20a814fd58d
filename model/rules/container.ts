// SPDX-License-Identifier: Apache-2.0
import { Cidr } from "../environment/cidr.ts";
import { dockerPlaces } from "../environment/container.ts";
import type { Environment } from "../environment/environment.ts";
import { dockerDefaults } from "../schema/index.ts";
import { error, type Rule, type Violation } from "./rule.ts";

type ContainerEnvironment = Extract<Environment, { kind: "container" }>;

function forContainers(rule: (environment: ContainerEnvironment) => readonly Violation[]): Rule {
  return (environment) => (environment.kind === "container" ? rule(environment) : []);
}

const ownEngine = forContainers(({ infrastructure }) => {
  const other = infrastructure.engine === "docker" ? "kubernetes" : "docker";
  if (infrastructure[other] === undefined) return [];
  return [
    error({
      path: ["infrastructure", other],
      found: `settings of ${other} with engine ${infrastructure.engine}`,
      expected: "settings of the engine that is used",
      hint: "Remove them, or change the engine.",
      also: ["infrastructure", "engine"],
    }),
  ];
});

const furtherPoolsHaveOffsets = forContainers(({ infrastructure: { engine }, workers }) =>
  workers.flatMap((pool, index) =>
    engine !== "docker" || index === 0 || pool.addressOffset !== undefined
      ? []
      : [
          error({
            path: ["workers", index],
            found: `no addressOffset in the pool ${pool.name}`,
            expected: "an addressOffset in every worker pool after the first",
            hint: "Add one that leaves the pools before it room to grow, such as addressOffset: 60.",
          }),
        ],
  ),
);

const placesFit = forContainers((environment) => {
  const { engine, docker = dockerDefaults } = environment.infrastructure;
  if (engine !== "docker") return [];
  const owners = new Map<string, string>([[Cidr.parse(docker.cidr).host(1) ?? "", "Docker's gateway"]]);
  return dockerPlaces(environment).flatMap(({ name, pool, address, offset }) => {
    const index = environment.workers.findIndex((candidate) => candidate.name === pool);
    const path = index === -1 ? ["controlPlane"] : ["workers", index];
    const other = address === undefined ? undefined : owners.get(address);
    if (address !== undefined) owners.set(address, name);
    if (address !== undefined && other === undefined) return [];
    return [
      error({
        path,
        found:
          address === undefined
            ? `${name} at place ${offset} of ${docker.cidr}`
            : `${address} for ${name} and ${other}`,
        expected: "a place of its own in the network for each machine",
        hint: "Move the offsets apart, or take a larger network.",
      }),
    ];
  });
});

export const containerRules = { ownEngine, furtherPoolsHaveOffsets, placesFit } as const satisfies Record<string, Rule>;
