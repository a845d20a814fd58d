// SPDX-License-Identifier: Apache-2.0

/** What a run is of. */
export interface Extent {
  /** Adds a pool with `scaling`, for which machines need private subnets. */
  readonly burst: boolean;
  readonly hours: number;
}

const hoursPerMonth = 730;

/** USD per month, as in docs/aws.md#money: list prices of eu-central-1 as remembered in 2025. */
const prices = { machine: 35 + 20 * 0.095, loadBalancer: 20, address: 3.65, natGateway: 38 };

/** What the rates of a bill may be above those prices: other regions, traffic, requests, volumes. */
const margin = 1.5;

/** USD that a run costs at most, if nothing is left over: everything at its largest, for all of the time. */
export function estimate({ burst, hours }: Extent): number {
  const machines = burst ? 4 : 3;
  // That of the API and that of the Service, with an address in each of two zones.
  const loadBalancers = 2;
  const month =
    machines * prices.machine +
    loadBalancers * prices.loadBalancer +
    (machines + loadBalancers * 2 + 1) * prices.address +
    (burst ? prices.natGateway : 0);
  return Math.ceil((month / hoursPerMonth) * hours * margin * 100) / 100;
}
