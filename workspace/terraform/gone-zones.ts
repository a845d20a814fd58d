// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import { controlPlanePool, type Environment, poolInAddresses, zoneNames } from "../../model/index.ts";
import { jsonIn } from "../../talos/plain-text.ts";

const stateSchema = z.object({
  resources: z.array(
    z.object({
      module: z.string().optional(),
      type: z.string(),
      name: z.string(),
      instances: z.array(
        z.object({
          index_key: z.unknown(),
          attributes: z.object({ availability_zone: z.string().nullish(), subnet_id: z.string().nullish() }),
        }),
      ),
    }),
  ),
});

type AwsEnvironment = Extract<Environment, { kind: "aws" }>;

/**
 * Addresses of machines on AWS in zones that their pool does not have any more. Terraform keeps a machine in its zone, so
 * that it has to be asked to replace these.
 */
export function machinesInGoneZones(environment: Environment, state: string): readonly string[] {
  if (environment.kind !== "aws") return [];
  const pools = new Map(
    [{ ...environment.controlPlane, name: controlPlanePool }, ...environment.workers].map(({ name, zones }) => [
      poolInAddresses(name).replaceAll("-", "_"),
      placesOf(environment, zones),
    ]),
  );
  const resources = stateSchema.safeParse(jsonIn(state)).data?.resources ?? [];
  return resources.flatMap(({ module, type, name, instances }) => {
    const places = module === undefined && type === "aws_instance" ? pools.get(name) : undefined;
    if (places === undefined) return [];
    return instances
      .filter(({ attributes: { availability_zone, subnet_id } }) =>
        [availability_zone, subnet_id].every((place) => !places.has(place ?? "")),
      )
      .map(({ index_key }) => `${type}.${name}[${JSON.stringify(index_key)}]`);
  });
}

/** The zones of a pool; of a VPC that exists, its subnets there. */
function placesOf({ infrastructure }: AwsEnvironment, own: readonly string[] | undefined): ReadonlySet<string> {
  const { vpc, access } = infrastructure;
  const all = zoneNames(infrastructure);
  const zones = own ?? all;
  if (vpc.id === undefined) return new Set(zones);
  const subnets = access === "public" ? vpc.publicSubnetIds : vpc.privateSubnetIds;
  return new Set(zones.flatMap((zone) => subnets[all.indexOf(zone)] ?? []));
}
