// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import { dockerDefaults } from "../schema/index.ts";
import { Cidr } from "./cidr.ts";
import { type Environment, type MachinePlan, machinesOf, type Role } from "./environment.ts";

type LibvirtEnvironment = Extract<Environment, { kind: "libvirt" }>;
type NetworkSection = LibvirtEnvironment["infrastructure"]["network"];
export type LibvirtNetwork = Omit<NetworkSection, "nameservers"> & {
  readonly nameservers?: Readonly<NetworkSection["nameservers"]>;
};
type Network = Pick<LibvirtNetwork, "cidr" | "controlPlaneOffset" | "workerOffset" | "gateway" | "nameservers"> &
  Partial<Pick<LibvirtNetwork, "macPrefix">>;

/** Where a machine is in its network. */
export interface Place {
  /** Place in the network, counted from the network's own address. */
  readonly offset: number;
  /** Undefined when the network has no such place. */
  readonly address: string | undefined;
  readonly mac: string;
}

export interface AddressedMachine extends MachinePlan, Place {}

/** Environments whose machines get their addresses from their places in a network: libvirt, and Docker's containers. */
export type PlacedEnvironment = LibvirtEnvironment | Extract<Environment, { kind: "container" }>;

function networkOf(environment: PlacedEnvironment): Network {
  if (environment.kind === "libvirt") return environment.infrastructure.network;
  return environment.infrastructure.docker ?? dockerDefaults;
}

/** Where a pool's addresses begin; undefined for a further worker pool that does not say. */
function firstOffset(environment: PlacedEnvironment, machine: MachinePlan): number | undefined {
  const network = networkOf(environment);
  if (machine.role === "controlplane") return network.controlPlaneOffset;
  const index = environment.workers.findIndex((pool) => pool.name === machine.pool);
  return environment.workers[index]?.addressOffset ?? (index === 0 ? network.workerOffset : undefined);
}

/** The place, address and MAC of the machine that is `index`th in a pool whose addresses begin at `first`. */
export function placeMachine(network: Network, role: Role, first: number, index: number): Place {
  const offset = first + index - 1;
  return { offset, address: Cidr.parse(network.cidr).host(offset), mac: macOf(role, offset, network) };
}

const known = new WeakMap<PlacedEnvironment, readonly AddressedMachine[]>();

/**
 * The address of each machine, from its pool's offset and its index only, so that no machine's address depends on how
 * many others there are. Machines of a pool without an offset are left out.
 */
export function addressesOf(environment: PlacedEnvironment): readonly AddressedMachine[] {
  const network = networkOf(environment);
  const found =
    known.get(environment) ??
    machinesOf(environment).flatMap((machine) => {
      const first = firstOffset(environment, machine);
      return first === undefined ? [] : [{ ...machine, ...placeMachine(network, machine.role, first, machine.index) }];
    });
  known.set(environment, found);
  return found;
}

/** The addresses of machines that the file alone tells, by name. */
export function knownAddresses(environment: Environment): ReadonlyMap<string, string> {
  if (environment.kind === "metal")
    return new Map(Object.entries(environment.infrastructure.machines).map(([name, { address }]) => [name, address]));
  if (environment.kind !== "libvirt") return new Map();
  return new Map(
    addressesOf(environment).flatMap(({ name, address }) => (address === undefined ? [] : [[name, address]])),
  );
}

/** The first half of MAC addresses in files that set none. */
export const usualMacPrefix = "52:54:00";

/**
 * A first half of MAC addresses for a new environment, so that two on one bridge differ. 52 marks addresses that no
 * manufacturer gives out.
 */
export function macPrefixFor(name: string): string {
  const [first = "", second = ""] = createHash("sha256").update(name).digest("hex").match(/../g) ?? [];
  return `52:${first}:${second}`;
}

/** 52:54:00:c1:00:01 and on for control planes, 52:54:00:c2:00:01 and on for workers, in the order of addresses. */
function macOf(role: Role, offset: number, network: Network): string {
  const [group, base] = role === "controlplane" ? ["c1", network.controlPlaneOffset] : ["c2", network.workerOffset];
  const number = (offset - base + 1 + 0x10000) % 0x10000;
  const hex = number.toString(16).padStart(4, "0");
  return `${network.macPrefix ?? usualMacPrefix}:${group}:${hex.slice(0, 2)}:${hex.slice(2)}`;
}

/** The gateway of the machines' network: as given, else its first host. */
export function gatewayOf(network: Pick<Network, "cidr" | "gateway">): string {
  return network.gateway ?? Cidr.parse(network.cidr).host(1) ?? network.cidr;
}

/** The name servers of the machines: as given, else the gateway. */
export function nameserversOf(network: Pick<Network, "cidr" | "gateway" | "nameservers">): readonly string[] {
  return network.nameservers ?? [gatewayOf(network)];
}
