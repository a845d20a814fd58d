// SPDX-License-Identifier: Apache-2.0

import { defaultTalosVersion, TalosVersion } from "../../talos/version/index.ts";
import type { Kind } from "../schema/index.ts";
import { macPrefixFor } from "./addressing.ts";
import { EnvironmentError } from "./fault.ts";
import { environmentFile, parseEnvironment } from "./parse-environment.ts";
import { YamlSource } from "./yaml-source.ts";

/** What a first environment file is made from; few things, because everything else has a default. */
export interface FirstEnvironment {
  /** libvirt: what its MAC addresses are derived from. @default empty */
  readonly name?: string;
  readonly kind: Kind;
  readonly controlPlanes: number;
  readonly workers: number;
  /** Exact. @default that of base.yaml, else the release that talosmith was tested with */
  readonly talosVersion?: string;
  /** Exact. @default that of base.yaml, else the one that the Talos release brings */
  readonly kubernetesVersion?: string;
  /** libvirt: the KVM host. */
  readonly uri?: string;
  /** libvirt: the machines' network. */
  readonly cidr?: string;
  /** libvirt: address that the control planes share. */
  readonly vip?: string;
  readonly region?: string;
  /** aws: networks that may reach the Talos API. */
  readonly adminCidrs?: readonly string[];
  /** aws: DNS zone. */
  readonly zone?: string;
  /** metal: addresses of the control planes. */
  readonly controlPlaneAddresses?: readonly string[];
  /** metal: addresses of the workers. */
  readonly workerAddresses?: readonly string[];
}

/** The questions of each kind beyond the counts. */
export const questionsOf: Readonly<Record<Kind, readonly FirstQuestion[]>> = {
  simulated: [],
  libvirt: [
    { key: "uri", question: "The KVM host, as libvirt names it", usual: "qemu:///system" },
    { key: "cidr", question: "Network of the machines", usual: "10.0.0.0/24" },
    { key: "vip", question: "Free address that the control planes share (empty: none)", usual: "" },
  ],
  aws: [
    { key: "region", question: "AWS region", usual: "eu-central-1" },
    { key: "adminCidrs", question: "Networks that may administer the cluster, with commas", usual: undefined },
    { key: "zone", question: "DNS zone for the API's name (empty: none)", usual: "" },
  ],
  container: [],
  metal: [
    { key: "controlPlaneAddresses", question: "Addresses of the control planes, with commas", usual: undefined },
    { key: "workerAddresses", question: "Addresses of the workers, with commas (empty: none)", usual: "" },
  ],
};

export interface FirstQuestion {
  readonly key: "uri" | "cidr" | "vip" | "region" | "adminCidrs" | "zone" | "controlPlaneAddresses" | "workerAddresses";
  readonly question: string;
  /** The answer when none is given; undefined when there has to be one. */
  readonly usual: string | undefined;
}

/** Where an environment file finds its schema, in a checkout of talosmith and in a project that depends on it. */
export const schemaPaths = {
  checkout: "../schemas/environment.schema.json",
  project: "../node_modules/talosmith/schemas/environment.schema.json",
} as const;

interface Surroundings {
  /** @default project */
  readonly schema?: keyof typeof schemaPaths;
  /** The text of environments/base.yaml, where there is one. */
  readonly base?: string | undefined;
}

/** The text of a first environment file: short, and every line worth changing. */
export function firstEnvironment(
  answers: FirstEnvironment,
  { schema = "project", base = "" }: Surroundings = {},
): string {
  const start = `# yaml-language-server: $schema=${schemaPaths[schema]}\n${cluster(answers, base)}\ninfrastructure:\n`;
  if (answers.kind === "metal") return `${start}${metal(answers)}`;
  const workers =
    answers.workers === 0 ? "workers: []\n" : `workers:\n  - count: ${answers.workers}\n${marks("    # ")}`;
  return `${start}${infrastructure(answers)}
controlPlane:
  count: ${answers.controlPlanes}

${workers}`;
}

/**
 * Versions and contract are written down, so that a newer talosmith changes nothing by itself; where base.yaml has one, it is
 * that of all environments. Below them what people look for first, as comments.
 */
function cluster({ talosVersion, kubernetesVersion }: FirstEnvironment, base: string): string {
  const shared = YamlSource.parse(environmentFile("base"), base);
  const inBase = (field: string) => {
    const node = shared.node(["cluster", field]);
    return node?.kind === "scalar" ? node.text : undefined;
  };
  const talos = TalosVersion.parse(talosVersion ?? inBase("talosVersion") ?? defaultTalosVersion.toString());
  const given = { talosVersion, kubernetesVersion, configContract: undefined };
  const usual = {
    talosVersion: talos.toString(),
    kubernetesVersion: talos.defaultKubernetesVersion,
    configContract: talos.contract.toString(),
  };
  // What the base has goes with its own Talos version.
  const isOther = talosVersion !== undefined && talosVersion !== inBase("talosVersion");
  const pinned = (["talosVersion", "kubernetesVersion", "configContract"] as const).flatMap((field) => {
    const value = given[field] ?? (isOther || inBase(field) === undefined ? usual[field] : undefined);
    return value === undefined ? [] : [`  ${field}: ${value}`];
  });
  const examples = [
    "endpoint: https://k8s.example.com:6443",
    "patches:",
    "  all:",
    '    - machine: { sysctls: { vm.max_map_count: "262144" } }',
  ];
  // A section of comments alone is one itself: empty, it would hide that of base.yaml.
  const [section, comment] = pinned.length === 0 ? ["# cluster:", "#   "] : ["cluster:", "  # "];
  return [section, ...pinned, ...examples.map((line) => comment + line)].map((line) => `${line}\n`).join("");
}

/** Labels and taints of a pool. */
function marks(indent: string): string {
  return `${indent}labels: { tier: web }\n${indent}taints: { dedicated: "web:NoSchedule" }\n`;
}

/** Machines say themselves what they are, so there are no counts. */
function metal({ controlPlaneAddresses = [], workerAddresses = [] }: FirstEnvironment): string {
  const machines = (addresses: readonly string[], name: string, role: string) =>
    addresses.map(
      (address, index) => `    ${name}-${index + 1}: { address: ${JSON.stringify(address)}, role: ${role} }`,
    );
  const lines = [
    "  kind: metal",
    "  # The first config holds secrets. Better: the fingerprint that each machine's console shows, as fingerprint.",
    "  trustOnFirstUse: true",
    "  machines:",
    ...machines(controlPlaneAddresses, "cp", "controlplane"),
    ...machines(workerAddresses, "w", "worker"),
  ];
  const pool = workerAddresses.length === 0 ? "" : `\n# workers:\n#   - name: w\n${marks("#     ")}`;
  return lines.map((line) => `${line}\n`).join("") + pool;
}

/** Why the first answer is trusted in the files that we write, and what it means. */
const trustedNetwork: Partial<Record<Kind, readonly string[]>> = {
  libvirt: [
    "A new machine's certificate is not known beforehand. This applies the initial config, with the CA keys, to whatever",
    "answers at a machine's address: trust it on a bridge where only your own machines can answer there. Otherwise set",
    "machineConfig: user-data in its place: the config is then in each machine's seed on the host.",
  ],
  container: [
    "A new machine's certificate is not known beforehand. This applies the initial config, with the CA keys, to whatever",
    "answers at a machine's address: trust it in a network of containers where nobody else can answer there.",
  ],
};

function infrastructure({ name = "", kind, uri, cidr, vip, region, adminCidrs, zone }: FirstEnvironment): string {
  const lines = [`kind: ${kind}`];
  const trust = trustedNetwork[kind];
  if (trust !== undefined) lines.push(...trust.map((line) => `# ${line}`), "trustOnFirstUse: true");
  if (kind === "libvirt") {
    if (uri !== undefined) lines.push(`uri: ${JSON.stringify(uri)}`);
    lines.push("network:");
    if (cidr !== undefined) lines.push(`  cidr: ${JSON.stringify(cidr)}`);
    if (vip) lines.push(`  vip: ${JSON.stringify(vip)}`);
    lines.push("  # First half of the machines' MAC addresses: environments on one bridge need different ones.");
    lines.push(`  macPrefix: ${JSON.stringify(macPrefixFor(name))}`);
  }
  if (kind === "container") lines.push("engine: docker # or kubernetes");
  if (kind === "aws") {
    if (region !== undefined) lines.push(`region: ${JSON.stringify(region)}`);
    if (adminCidrs?.length) lines.push("adminCidrs:", ...adminCidrs.map((network) => `  - ${JSON.stringify(network)}`));
    if (zone) lines.push("dns:", `  zone: ${JSON.stringify(zone)}`);
  }
  return lines.map((line) => `  ${line}\n`).join("");
}

const places: Readonly<Record<FirstQuestion["key"] | "controlPlanes" | "workers", string>> = {
  controlPlanes: "controlPlane",
  workers: "workers",
  uri: "infrastructure.uri",
  cidr: "infrastructure.network",
  vip: "infrastructure.network",
  region: "infrastructure.region",
  adminCidrs: "infrastructure.adminCidrs",
  zone: "infrastructure.dns",
  controlPlaneAddresses: "infrastructure.machines",
  workerAddresses: "infrastructure.machines",
};

/** What is wrong with one answer for a first environment, as far as the answers before it tell; undefined when nothing is. */
export function wrongAnswer(answers: FirstEnvironment, key: keyof typeof places): string | undefined {
  const text = firstEnvironment(answers);
  const file = "environments/first.yaml";
  try {
    parseEnvironment("first", (path) => (path === file ? text : undefined));
  } catch (error) {
    if (!(error instanceof EnvironmentError)) throw error;
    // What is missing elsewhere is still to be asked.
    const fault = error.faults.find(
      ({ path }) => `${path}.`.startsWith(`${places[key]}.`) || path.startsWith(`${places[key]}[`),
    );
    return fault === undefined ? undefined : `found ${fault.found}, expected ${fault.expected}`;
  }
  return undefined;
}
