// SPDX-License-Identifier: Apache-2.0
import ipaddr from "ipaddr.js";
import { parseMetaKey, talosUseOfMetaKey } from "../../talos/meta-key.ts";
import { overlaps } from "../cluster-rules.ts";
import type { MetalEnvironment } from "../environment/environment.ts";
import { type MetalMachineSettings, poolOf } from "../environment/metal.ts";
import { error, type Found, noMoreFailures, type Rule, type Rules, ruleFor, warning } from "./rule.ts";

/** One rule for each machine by itself. */
function forMachines(
  rule: (
    machine: MetalMachineSettings,
    path: (...steps: readonly string[]) => readonly string[],
    environment: MetalEnvironment,
  ) => Found,
): Rule {
  return ruleFor("metal", (environment) =>
    Object.entries(environment.infrastructure.machines).map(([name, machine]) =>
      rule(machine, (...steps) => ["infrastructure", "machines", name, ...steps], environment),
    ),
  );
}

const networkPath = (key: string) => ["infrastructure", "network", key];

const someControlPlane = ruleFor("metal", ({ infrastructure: { machines }, controlPlane }) => {
  const planes = Object.values(machines).filter(({ role }) => role === "controlplane").length;
  const path = ["infrastructure", "machines"];
  if (controlPlane === undefined && planes > 0)
    return error({
      path,
      found: `${planes} with the role controlplane beside controlPlaneRef`,
      expected: "workers only, which join the control plane of the other environment",
      hint: "Make them workers, or take controlPlaneRef away.",
    });
  if (controlPlane === undefined) return [];
  if (planes > 0 && planes <= 7)
    return planes % 2 === 1
      ? []
      : warning({
          path,
          found: `${planes} machines with the role controlplane`,
          expected: "an odd number",
          hint: noMoreFailures(planes),
        });
  return error({
    path,
    found: `${planes} machines with the role controlplane`,
    expected: "1 to 7 of them; an odd number is recommended",
    hint: planes === 0 ? "Say role: controlplane of at least one machine." : "Make the others workers.",
  });
});

/** An address or a name in one spelling: IPv6 knows many. */
function spelled(address: string): string {
  return ipaddr.isValid(address) ? ipaddr.parse(address).toString() : address.toLowerCase();
}

const addressesDiffer = ruleFor("metal", ({ infrastructure: { machines, network } }) => {
  const owners = new Map<string, { readonly owner: string; readonly path: readonly string[] }>();
  for (const key of ["gateway", "vip"] as const)
    if (network[key] !== undefined) owners.set(spelled(network[key]), { owner: `the ${key}`, path: networkPath(key) });
  return Object.entries(machines).flatMap(([name, { address }]) => {
    const path = ["infrastructure", "machines", name, "address"];
    const other = owners.get(spelled(address));
    owners.set(spelled(address), { owner: name, path });
    if (other === undefined) return [];
    return error({
      path,
      found: `${address} for ${name} and for ${other.owner}`,
      expected: "an address of its own for each machine, the gateway and the VIP",
      hint: "Correct one of the two.",
      also: other.path,
    });
  });
});

type Setting = keyof MetalMachineSettings;

/** For settings of a machine of which one takes the place of the other. */
function notBoth(one: Setting, other: Setting, reason = ""): Rule {
  return forMachines((machine, path) =>
    machine[one] === undefined || machine[other] === undefined
      ? []
      : error({
          path: path(other),
          found: `both ${one} and ${other}`,
          expected: `one of the two${reason}`,
          hint: "Remove one of them.",
          also: path(one),
        }),
  );
}

const oneDisk = notBoth("disk", "diskSelector");
const oneImage = notBoth("image", "schematic", ": an image has its schematic in its name");

const known = forMachines(({ fingerprint, adopted }, path, { infrastructure: { trustOnFirstUse } }) =>
  fingerprint !== undefined || trustOnFirstUse || adopted
    ? []
    : error({
        path: path(),
        found: "no fingerprint",
        expected: "the fingerprint of the machine's certificate, or infrastructure.trustOnFirstUse: true",
        hint: "Copy it from the machine's console. The first config holds all secrets of the cluster: without it they go to whoever answers at the address.",
      }),
);

const poolsExist = forMachines(({ role, pool }, path, { workers }) => {
  if (role === "controlplane")
    return pool === undefined
      ? []
      : error({
          path: path("pool"),
          expected: "no pool: control planes have none",
          hint: "Remove it, or make the machine a worker.",
        });
  if (workers.some(({ name }) => name === poolOf({ role, pool }, workers))) return [];
  return error({
    path: pool === undefined ? path() : path("pool"),
    found: pool === undefined ? "no pool, where there are several" : pool,
    expected: `one of the pools of workers: ${workers.map(({ name }) => name).join(", ") || "there is none"}`,
    hint: "Name the machine's pool, or add the pool to workers.",
  });
});

function metaViolations(meta: Readonly<Record<string, string>>, path: readonly string[]): Found {
  return Object.keys(meta).flatMap((text) => {
    const key = parseMetaKey(text);
    const use = key === undefined ? undefined : talosUseOfMetaKey(key);
    if (key !== undefined && use === undefined) return [];
    return error({
      path: [...path, text],
      found: use === undefined ? `the key ${text}` : `the key ${text}, where Talos keeps ${use}`,
      expected: "10, 12 to 15, or another number up to 255 that Talos does not use itself",
      hint: "10 is the network before the config, 15 the UUID, 12 to 14 are yours.",
    });
  });
}

const metaKeys = ruleFor("metal", ({ infrastructure: { meta } }) => metaViolations(meta, ["infrastructure", "meta"]));
const machineMetaKeys = forMachines(({ meta }, path) => metaViolations(meta, path("meta")));

const someLink = forMachines(({ link, mac, role }, path, { infrastructure: { network } }) => {
  const needs = network.cidr !== undefined || (role === "controlplane" && network.vip !== undefined);
  if (!needs || link !== undefined || mac !== undefined) return [];
  return error({
    path: path(),
    found: "neither link nor mac",
    expected: "which link has the address, because the network settings are static or there is a VIP",
    hint: "Add link: eth0, or the MAC address of the link.",
    also: networkPath(network.cidr === undefined ? "vip" : "cidr"),
  });
});
const oneLink: Rule = (environment) => [notBoth("link", "mac"), someLink].map((rule) => rule(environment));

/** Routers of IPv6 are usually known by an address that holds for their link alone. */
function isOnLink(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.parse(address).range() === "linkLocal";
}

const machinesInsideNetwork = forMachines(({ address }, path, { infrastructure: { network } }) =>
  network.cidr === undefined || overlaps(address, network.cidr)
    ? []
    : error({
        path: path("address"),
        expected: `an address of the network ${network.cidr}`,
        hint: "Change it, or the network.",
        also: networkPath("cidr"),
      }),
);

const insideNetwork = ruleFor("metal", ({ infrastructure: { network } }) =>
  (["gateway", "vip"] as const).flatMap((key) => {
    const value = network[key];
    if (value === undefined || network.cidr === undefined || overlaps(value, network.cidr)) return [];
    if (key === "gateway" && network.cidr.includes(":") && value.includes(":") && isOnLink(value)) return [];
    return error({
      path: networkPath(key),
      expected: `an address of the network ${network.cidr}`,
      hint: "Change it, or the network.",
      also: networkPath("cidr"),
    });
  }),
);

const sharedEndpoint = ruleFor("metal", ({ controlPlane, cluster, infrastructure: { machines, network } }) => {
  if (controlPlane === undefined || controlPlane.count < 2) return [];
  if (network.vip !== undefined || cluster.endpoint !== undefined) return [];
  const first = Object.entries(machines).find(([, { role }]) => role === "controlplane")?.[0] ?? "";
  return warning({
    path: ["infrastructure", "machines", first],
    found: `${controlPlane.count} control planes without a VIP or an endpoint`,
    expected: "infrastructure.network.vip or cluster.endpoint, so that the API is reached through any of them",
    hint: "Add a free address of the network as vip. Without, the API is gone when the first control plane is.",
  });
});

/** Those that need to know nothing but the infrastructure. */
export const metalInfrastructureRules = {
  addressesDiffer,
  oneDisk,
  oneImage,
  known,
  metaKeys,
  machineMetaKeys,
  oneLink,
  machinesInsideNetwork,
  insideNetwork,
} as const satisfies Rules;

export const metalRules = {
  ...metalInfrastructureRules,
  someControlPlane,
  poolsExist,
  sharedEndpoint,
} as const satisfies Rules;
