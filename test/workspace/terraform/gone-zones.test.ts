// SPDX-License-Identifier: Apache-2.0
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Environment, parseEnvironment, zoneOrder } from "../../../model/index.ts";
import { machinesInGoneZones } from "../../../workspace/terraform/gone-zones.ts";

const environmentOf = (infrastructure: string, pool = "") =>
  parseEnvironment("x", (file) =>
    file === "environments/x.yaml"
      ? `infrastructure: { kind: aws, region: eu-west-1, adminCidrs: [203.0.113.7/32], ${infrastructure} }\ncontrolPlane: { count: 3 }\nworkers: [{ name: big-ones, count: 4${pool} }]\n`
      : undefined,
  );
const withZones = (zones: readonly string[]): Environment => environmentOf(`zones: [${zones.join(", ")}]`);
const zone = (letter: string) => `eu-west-1${letter}`;

interface Place {
  readonly zone?: string;
  readonly subnet?: string;
}
const stateOf = (pools: Readonly<Record<string, Readonly<Record<string, Place>>>>, module?: string) =>
  JSON.stringify({
    resources: Object.entries(pools).map(([name, machines]) => ({
      ...(module === undefined ? {} : { module }),
      mode: "managed",
      type: "aws_instance",
      name,
      instances: Object.entries(machines).map(([index_key, place]) => ({
        index_key,
        attributes: { availability_zone: place.zone, subnet_id: place.subnet },
      })),
    })),
  });
const spread = (zones: readonly string[]) => {
  const pool = (name: string, key: string, count: number) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, index) => [
        `${key}-${index + 1}`,
        { zone: zoneOrder(name, zones)[index % zones.length] ?? "" },
      ]),
    );
  return { control_plane: pool("cp", "cp", 3), big_ones: pool("big-ones", "big-ones", 4) };
};

describe("machines in zones that are gone", () => {
  test("are exactly those that were there, whatever zones come and go", () => {
    const zones = fc.uniqueArray(fc.constantFrom(..."abcdef"), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(zones, zones, (before, after) => {
        const made = spread(before.map(zone));
        const gone = Object.entries(made).flatMap(([name, machines]) =>
          Object.entries(machines).flatMap(([key, place]) =>
            after.map(zone).includes(place.zone) ? [] : `aws_instance.${name}["${key}"]`,
          ),
        );
        expect(machinesInGoneZones(withZones(after.map(zone)), stateOf(made))).toEqual(gone);
      }),
    );
  });

  test("are found by the zones of their pool, where it has its own", () => {
    const state = stateOf({ big_ones: { "big-ones-1": { zone: zone("a") }, "big-ones-2": { zone: zone("b") } } });
    expect(machinesInGoneZones(environmentOf("zones: 3", `, zones: [${zone("b")}]`), state)).toEqual([
      'aws_instance.big_ones["big-ones-1"]',
    ]);
  });

  test("are found by their subnets in a VPC that exists", () => {
    const subnet = (digit: string) => `subnet-${digit.repeat(17)}`;
    const environment = environmentOf(
      `zones: 2, vpc: { id: vpc-0123456789abcdef0, cidr: 10.0.0.0/16, natCidrs: [198.51.100.9/32], publicSubnetIds: [${subnet("a")}, ${subnet("b")}], privateSubnetIds: [${subnet("1")}, ${subnet("2")}] }`,
    );
    const state = stateOf({
      control_plane: {
        "cp-1": { zone: "eu-west-1c", subnet: subnet("2") },
        "cp-2": { zone: "eu-west-1a", subnet: subnet("3") },
      },
    });
    expect(machinesInGoneZones(environment, state)).toEqual(['aws_instance.control_plane["cp-2"]']);
  });

  test("are none of others, and none where there is no state", () => {
    const elsewhere = { zone: "us-east-1a" };
    expect(machinesInGoneZones(withZones([zone("a")]), stateOf({ bastion: { "x-1": elsewhere } }))).toEqual([]);
    expect(
      machinesInGoneZones(withZones([zone("a")]), stateOf({ control_plane: { "cp-1": elsewhere } }, "module.other")),
    ).toEqual([]);
    for (const state of ["", "{}", "no JSON"]) expect(machinesInGoneZones(withZones([zone("a")]), state)).toEqual([]);
  });
});
