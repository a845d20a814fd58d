// SPDX-License-Identifier: Apache-2.0
import { settingPath, settingRules } from "../../model/cluster-rules.ts";
import { configDefaults } from "../../talos/config-defaults.ts";
import type { DesiredCluster } from "../desired.ts";
import type { Finding } from "../finding.ts";
import type { ObservedCluster } from "../observed.ts";
import { type ConfigDocuments, documentsOf } from "./config-change.ts";
import { machineWork } from "./machine-work.ts";
import { configured } from "./quorum.ts";

/** A setting that running nodes, certificates and objects of Kubernetes carry, so that it cannot change any more. */
interface Field {
  readonly name: string;
  /** In the v1alpha1 document, and in the document that has it since contract 1.14. */
  readonly paths: readonly [legacy: string, document: string];
  /** What Talos takes where a config does not set it. @default nothing can be told */
  readonly usual?: string;
}

const fields: readonly Field[] = [
  { name: "the cluster's name", paths: ["cluster.clusterName", "KubeClusterConfig.clusterName"] },
  {
    name: "the DNS domain",
    paths: ["cluster.network.dnsDomain", "KubeNetworkConfig.dnsDomain"],
    usual: configDefaults.dnsDomain,
  },
  {
    name: "the pod CIDRs",
    paths: ["cluster.network.podSubnets", "KubeNetworkConfig.podSubnets"],
    usual: configDefaults.podSubnets.join(", "),
  },
  {
    name: "the service CIDRs",
    paths: ["cluster.network.serviceSubnets", "KubeNetworkConfig.serviceSubnets"],
    usual: configDefaults.serviceSubnets.join(", "),
  },
];

/** Reading whole configs is slow: only those are read that differ at one of these places. */
const places = /^(cluster$|cluster\.(clusterName|network)\b|Kube(Cluster|Network)Config\b)/;

/**
 * Changes of settings that are fixed once a cluster runs, whatever makes them: the file, a patch, another release's
 * form. A machine that alone differs from the others has drifted, and may be brought back to what they have.
 */
export function immutableFindings(desired: DesiredCluster, observed: ObservedCluster): readonly Finding[] {
  const changes = new Map<string, { readonly field: Field; before: string; after: string; machines: string[] }>();
  for (const machine of desired.machines) {
    const state = configured(observed.machines.get(machine.name));
    if (state?.config === undefined || state.config === machine.config) continue;
    if (!machineWork(desired, machine, state).config?.paths.some((path) => places.test(path))) continue;
    const [running, wanted] = [documentsOf(state.config), documentsOf(machine.config)];
    for (const field of fields) {
      const [before, after] = [settingOf(running, field), settingOf(wanted, field)];
      if (before === undefined || after === undefined || before === after) continue;
      const key = [field.name, before, after].join("\n");
      const change = changes.get(key) ?? { field, before, after, machines: [] };
      changes.set(key, { ...change, machines: [...change.machines, machine.name] });
    }
  }
  const refused = [...changes.values()].filter(({ field, after }) => !isInUse(field, after, observed));
  return refused.map(({ field, before, after, machines }) => ({
    severity: "error",
    message: `${field.name} cannot change in a running cluster: it is ${before} and would become ${after} (${machines.join(", ")})`,
    hint: `Set it back to ${before}, in the file or in the patch that changes it, or create another cluster.`,
  }));
}

/**
 * Networks of the cluster, as its config has them after all patches, that have addresses in common with each other or
 * with a machine. A cluster that runs cannot change them any more: there it is a warning.
 */
export function overlapFindings(desired: DesiredCluster, observed: ObservedCluster): readonly Finding[] {
  const first = desired.machines.find(({ role }) => role === "controlplane");
  if (first === undefined) return [];
  const documents = documentsOf(first.config);
  const [podCidrs = [], serviceCidrs = []] = fields.slice(2).map((field) => settingOf(documents, field)?.split(", "));
  const nodes = desired.machines.map(({ name, address }) => ({ cidr: address, what: `${name}'s address` }));
  const { podsAndServicesApart, nodesApart } = settingRules;
  const severity = [...observed.machines.values()].some((machine) => configured(machine)) ? "warning" : "error";
  return [podsAndServicesApart, nodesApart].flatMap((rule) =>
    rule({ podCidrs, serviceCidrs, nodes }).map(({ path, found, expected, hint }) => {
      return { severity, message: `${settingPath(path)}: found ${found}, expected ${expected}`, hint };
    }),
  );
}

/** By most control planes, or, where a stack has none, by any machine: one that has drifted alone decides nothing. */
function isInUse(field: Field, value: string, observed: ObservedCluster): boolean {
  const machines = [...observed.machines.values()].filter((machine) => configured(machine)?.config !== undefined);
  const planes = machines.filter(({ role }) => role === "controlplane");
  const using = (some: typeof machines) =>
    some.filter((machine) => settingOf(documentsOf(configured(machine)?.config ?? ""), field) === value).length;
  return planes.length === 0 ? using(machines) > 0 : using(planes) * 2 > planes.length;
}

function settingOf(documents: ConfigDocuments, { paths: [legacy, document], usual }: Field): string | undefined {
  const [kind = "", key = ""] = document.split(".");
  const value = at(documents.get("v1alpha1"), legacy.split(".")) ?? at(documents.get(kind), [key]);
  if (Array.isArray(value) && value.length > 0) return value.join(", ");
  return typeof value === "string" && value !== "" ? value : usual;
}

function at(value: unknown, path: readonly string[]): unknown {
  return path.reduce((inner, key) => (inner as Readonly<Record<string, unknown>> | null | undefined)?.[key], value);
}
