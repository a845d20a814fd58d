// SPDX-License-Identifier: Apache-2.0
import { addressesOf, knownAddresses } from "./addressing.ts";
import { type Environment, machinesOf } from "./environment.ts";

/** Something that only one machine may have at a place, and the machine. */
interface Claim {
  /** Such as `MAC address 52:54:00:c1:00:01 on br0 of qemu:///system`. */
  readonly what: string;
  readonly owner: string;
}

/** What an environment has in common with others of its project that only one of them may have, a sentence each. Pure. */
export function sharedWithNeighbours(environment: Environment, others: readonly Environment[]): readonly string[] {
  const own = new Map(claimsOf(environment).map(({ what, owner }) => [what, owner]));
  return others
    .filter(({ name }) => name !== environment.name)
    .flatMap((other) => {
      const shared = claimsOf(other).flatMap(({ what, owner }) => {
        const ours = own.get(what);
        return ours === undefined ? [] : [`${what} (${ours} and ${owner})`];
      });
      return shared.length === 0 ? [] : [`${environment.name} and ${other.name} both have ${listed(shared)}`];
    });
}

const most = 3;

function listed(items: readonly string[]): string {
  const more = items.length - most;
  return more > 0 ? `${items.slice(0, most).join(", ")} and ${more} more` : items.join(", ");
}

function claimsOf(environment: Environment): readonly Claim[] {
  if (environment.kind === "metal")
    return [...knownAddresses(environment)].map(([owner, address]) => ({ what: `the address ${address}`, owner }));
  if (environment.kind !== "libvirt") return [];
  const { uri, network } = environment.infrastructure;
  // Networks with NAT are separate from each other.
  const link = network.mode === "bridge" ? `${network.bridge} of ${uri}` : `a network of ${environment.name}`;
  const machines = addressesOf(environment).flatMap(({ name, mac, address }): Claim[] => [
    { what: `the MAC address ${mac} on ${link}`, owner: name },
    ...(address === undefined ? [] : [{ what: `the address ${address} on ${link}`, owner: name }]),
  ]);
  const domains = machinesOf(environment).map(({ name }) => ({
    what: `the virtual machine ${name} of ${uri}`,
    owner: name,
  }));
  const vip = network.vip === undefined ? [] : [{ what: `the address ${network.vip} on ${link}`, owner: "the VIP" }];
  return [...machines, ...domains, ...vip];
}
