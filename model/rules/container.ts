// SPDX-License-Identifier: Apache-2.0
import { addressesOf } from "../environment/addressing.ts";
import { Cidr } from "../environment/cidr.ts";
import { dockerDefaults } from "../schema/index.ts";
import { error, poolPath, type Rules, ruleFor } from "./rule.ts";

const ownEngine = ruleFor("container", ({ infrastructure }) => {
  const other = infrastructure.engine === "docker" ? "kubernetes" : "docker";
  if (infrastructure[other] === undefined) return [];
  return error({
    path: ["infrastructure", other],
    found: `settings of ${other} with engine ${infrastructure.engine}`,
    expected: "settings of the engine that is used",
    hint: "Remove them, or change the engine.",
    also: ["infrastructure", "engine"],
  });
});

const placesFit = ruleFor("container", (environment) => {
  const { engine, docker = dockerDefaults } = environment.infrastructure;
  if (engine !== "docker") return [];
  const owners = new Map<string, string>([[Cidr.parse(docker.cidr).host(1) ?? "", "Docker's gateway"]]);
  return addressesOf(environment).flatMap(({ name, pool, address, offset }) => {
    const other = address === undefined ? undefined : owners.get(address);
    if (address !== undefined) owners.set(address, name);
    if (address !== undefined && other === undefined) return [];
    return error({
      path: poolPath(environment, pool),
      found:
        address === undefined ? `${name} at place ${offset} of ${docker.cidr}` : `${address} for ${name} and ${other}`,
      expected: "a place of its own in the network for each machine",
      hint: "Move the offsets apart, or take a larger network.",
    });
  });
});

export const containerRules = { ownEngine, placesFit } as const satisfies Rules;
