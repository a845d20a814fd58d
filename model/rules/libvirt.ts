// SPDX-License-Identifier: Apache-2.0
import { addressesOf, gatewayOf } from "../environment/addressing.ts";
import { Cidr } from "../environment/cidr.ts";
import { formatSize } from "../environment/quantity.ts";
import type { Path } from "../environment/yaml-source.ts";
import { minimumHardware } from "../schema/index.ts";
import { error, poolPath, poolsOf, type Rules, ruleFor, type Violation, warning } from "./rule.ts";

const networkPath = ["infrastructure", "network"];

const machinesFit = ruleFor("libvirt", (environment) => {
  const outside = addressesOf(environment).filter((machine) => machine.address === undefined);
  return [...new Set(outside.map((machine) => machine.pool))].map((pool) => {
    const first = outside.find((machine) => machine.pool === pool);
    return error({
      path: [...poolPath(environment, pool), "count"],
      found: `${first?.name} at place ${first?.offset} of ${environment.infrastructure.network.cidr}`,
      expected: `all machines inside the network, which has ${Cidr.parse(environment.infrastructure.network.cidr).size - 2} hosts`,
      hint: "Take a larger network, a smaller offset, or fewer machines.",
      also: [...networkPath, "cidr"],
    });
  });
});

const addressesDiffer = ruleFor("libvirt", (environment) => {
  const { network } = environment.infrastructure;
  const owners = new Map<string, { readonly owner: string; readonly path: Path }>();
  owners.set(gatewayOf(network), { owner: "the gateway", path: [...networkPath, "gateway"] });
  if (network.vip !== undefined) owners.set(network.vip, { owner: "the VIP", path: [...networkPath, "vip"] });
  const reported = new Set<string>();
  return addressesOf(environment).flatMap((machine) => {
    if (machine.address === undefined) return [];
    const other = owners.get(machine.address);
    owners.set(machine.address, { owner: machine.name, path: poolPath(environment, machine.pool) });
    if (other === undefined || reported.has(`${machine.pool} ${other.path.join(".")}`)) return [];
    reported.add(`${machine.pool} ${other.path.join(".")}`);
    return error({
      path: poolPath(environment, machine.pool),
      found: `${machine.address} for ${machine.name} and for ${other.owner}`,
      expected: "an address of its own for each machine, the gateway and the VIP",
      hint: "Move one of the offsets apart, or the other address.",
      also: other.path,
    });
  });
});

const insideNetwork = ruleFor("libvirt", ({ infrastructure: { network } }) => {
  const cidr = Cidr.parse(network.cidr);
  return (["gateway", "vip"] as const).flatMap((key) => {
    const value = network[key];
    const offset = value === undefined ? 1 : cidr.offsetOf(value);
    if (offset !== undefined && cidr.host(offset) !== undefined) return [];
    return error({
      path: [...networkPath, key],
      expected: `a host of the network ${network.cidr}`,
      hint: "Change it, or the network.",
      also: [...networkPath, "cidr"],
    });
  });
});

const sharedEndpoint = ruleFor("libvirt", ({ controlPlane, cluster, infrastructure: { network } }) => {
  if (controlPlane === undefined || controlPlane.count === 1) return [];
  if (network.vip !== undefined || cluster.endpoint !== undefined) return [];
  return warning({
    path: ["controlPlane", "count"],
    found: `${controlPlane.count} control planes without a VIP or an endpoint`,
    expected: "infrastructure.network.vip, so that the API is reached through any of them",
    hint: "Add a free address of the network as vip. Without, the API is gone when the first control plane is.",
  });
});

const enoughHardware = ruleFor("libvirt", (environment) => {
  return poolsOf(environment).map(({ role, path, pool }) =>
    (["cpu", "memory", "disk"] as const).map((key) => {
      const minimum = minimumHardware[role][key];
      if (pool[key] >= minimum) return [];
      const text = (value: number) => (key === "cpu" ? String(value) : formatSize(value));
      return warning({
        path: [...path, key],
        found: text(pool[key]),
        expected: `at least ${text(minimum)}, Talos's minimum for a ${role === "worker" ? "worker" : "control plane"}`,
        hint: "Give it more.",
      });
    }),
  );
});

const oneUserData = ruleFor("libvirt", ({ infrastructure: { machineConfig, cloudInit } }) =>
  machineConfig === "api" || cloudInit.userData === undefined
    ? []
    : error({
        path: ["infrastructure", "machineConfig"],
        found: "user-data beside a template for user-data",
        expected: "one of the two",
        hint: "Remove cloudInit.userData, or leave machineConfig out.",
        also: ["infrastructure", "cloudInit", "userData"],
      }),
);

/** What one host can run: KVM only its own architecture, and one pair of firmware files only one. */
const architecturesFit = ruleFor("libvirt", (environment) => {
  const { architecture, domainType, firmware } = environment.infrastructure;
  const pools = poolsOf(environment).map((entry) => ({ ...entry, has: entry.pool.architecture ?? architecture }));
  const other = pools.find(({ has }) => has !== architecture);
  const violations: Violation[] = [];
  if (other !== undefined && domainType === "kvm")
    violations.push(
      error({
        path: [...other.path, "architecture"],
        found: `${other.has} beside ${architecture}`,
        expected: "one architecture, the host's: KVM runs no other",
        hint: "Put these machines on a host of their own, or set domainType: qemu, which emulates the processor.",
        also: ["infrastructure", "domainType"],
      }),
    );
  if (other !== undefined && typeof firmware === "object")
    violations.push(
      error({
        path: ["infrastructure", "firmware"],
        found: "one pair of files for two architectures",
        expected: "uefi, or none",
        hint: "Leave firmware out: each architecture then gets its own.",
      }),
    );
  if (firmware === "bios" && pools.some(({ has }) => has === "arm64"))
    violations.push(
      error({
        path: ["infrastructure", "firmware"],
        expected: "uefi: arm64 has no BIOS",
        hint: "Leave firmware out.",
      }),
    );
  return violations;
});

/** Those that need to know nothing but the infrastructure. */
export const libvirtInfrastructureRules = { oneUserData, insideNetwork } as const satisfies Rules;

export const libvirtRules = {
  ...libvirtInfrastructureRules,
  architecturesFit,
  machinesFit,
  addressesDiffer,
  sharedEndpoint,
  enoughHardware,
} as const satisfies Rules;
