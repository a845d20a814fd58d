// SPDX-License-Identifier: Apache-2.0
// Where machines on AWS stand. Nothing here depends on how many zones there are but the zones of machines that are
// still to be made: Terraform keeps those that exist where they are.
import { createHash } from "node:crypto";
import { controlPlanePool } from "./environment.ts";

/** Letters of a region's zones, in the order in which a number of zones takes them. */
const usualLetters = "abcdefg";

/** Regions that have no zone b, or no zone c, for most accounts. */
const ownLetters: Readonly<Record<string, string>> = {
  "ap-northeast-1": "acdb",
  "ca-central-1": "abdc",
  "cn-north-1": "abdc",
};

const lettersOf = (region: string) =>
  [...new Set((ownLetters[region] ?? "") + usualLetters)].map((letter) => `${region}${letter}`);

export interface AwsZones {
  readonly region: string;
  /** How many, or which. @default 3 */
  readonly zones?: number | readonly string[] | undefined;
}

/** The names of the zones: a number means the first ones of the region by name, which never change. */
export function zoneNames({ region, zones = 3 }: AwsZones): readonly string[] {
  return typeof zones === "number" ? lettersOf(region).slice(0, zones) : zones;
}

/** Every zone that a region can have. */
export const allZones = lettersOf;

/**
 * The number of a zone, from one, which its subnets have in their names and addresses: the same whatever other zones
 * there are, so that a zone that goes moves no other one. Zones that are known only later are numbered in their order.
 */
export function zoneNumber({ region, zones }: AwsZones, zone: string): number {
  const named = zoneNames({ region, zones });
  const known = lettersOf(region);
  return (named.every((one) => known.includes(one)) ? known : named).indexOf(zone) + 1;
}

/** The zones of a pool in the order in which new machines take them. Worker pools begin in different zones. */
export function zoneOrder(pool: string, zones: readonly string[]): readonly string[] {
  const start = pool === controlPlanePool ? 0 : createHash("sha256").update(pool).digest().readUInt32BE(0);
  return zones.map((_, index) => zones[(start + index) % zones.length] ?? "");
}
