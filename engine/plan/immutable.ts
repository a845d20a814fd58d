// SPDX-License-Identifier: Apache-2.0
import { settingPath, settingRules } from "../../model/cluster-rules.ts";
import type { MachineConfig } from "../../talos/config/index.ts";
import { configDefaults } from "../../talos/config-defaults.ts";
import type { DesiredCluster } from "../desired.ts";
import type { Finding } from "../events.ts";
import type { ObservedCluster } from "../observed.ts";
import { configured } from "./quorum.ts";

/** A setting that running nodes, certificates and objects of Kubernetes carry, so that it cannot change any more. */
interface Field {
  readonly name: string;
  /** Its value in a config; undefined where nothing can be told. */
  readonly in: (config: MachineConfig) => string | undefined;
  /** How it can be changed all the same. @default not at all */
  readonly way?: string;
}

/** By its path in the v1alpha1 document, and in the document that has it since contract 1.14. */
function setting(name: string, legacy: string, document: string, usual?: string): Field {
  const valueIn = (config: MachineConfig) => {
    const value = config.value(legacy) ?? config.value(document);
    if (Array.isArray(value) && value.length > 0) return value.join(", ");
    return typeof value === "string" && value !== "" ? value : usual;
  };
  return { name, in: valueIn };
}

const podCidrs = setting(
  "the pod CIDRs",
  "cluster.network.podSubnets",
  "KubeNetworkConfig:podSubnets",
  configDefaults.podSubnets.join(", "),
);
const serviceCidrs = setting(
  "the service CIDRs",
  "cluster.network.serviceSubnets",
  "KubeNetworkConfig:serviceSubnets",
  configDefaults.serviceSubnets.join(", "),
);

/** With the first contract that has documents for Kubernetes come defaults of new clusters that can break a workload. */
const contract: Field = {
  name: "the config contract",
  in: (config) => formOf(config.documents.has("KubeClusterConfig")),
  way: "To move to a newer contract: talosmith config migrate <environment> --to <contract>.",
};

function formOf(kubernetesDocuments: boolean): string {
  return kubernetesDocuments ? "v1.14 or newer" : "v1.13 or older";
}

const fields: readonly Field[] = [
  setting("the cluster's name", "cluster.clusterName", "KubeClusterConfig:clusterName"),
  setting("the DNS domain", "cluster.network.dnsDomain", "KubeNetworkConfig:dnsDomain", configDefaults.dnsDomain),
  podCidrs,
  serviceCidrs,
];

/**
 * Changes of settings that are fixed once a cluster runs, whatever makes them: the file, a patch, another release's
 * form. A machine that alone differs from the others has drifted, and may be brought back to what they have.
 */
export function immutableFindings(desired: DesiredCluster, observed: ObservedCluster): readonly Finding[] {
  const changes = new Map<string, { readonly field: Field; before: string; after: string; machines: string[] }>();
  const { previousContract } = desired;
  const migratedFrom = previousContract && formOf(previousContract.kubernetesDocuments);
  for (const machine of desired.machines) {
    const state = configured(observed.machines.get(machine.name));
    const running = state?.config;
    // Equal configs need no reading; of one that cannot be read nothing is known.
    if (running === undefined || running.text === machine.config.text || running.problem !== undefined) continue;
    for (const field of [...fields, contract]) {
      const [before, after] = [field.in(running), field.in(machine.config)];
      if (field === contract && before === migratedFrom) continue;
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
    hint: `Set it back to ${before}, in the file or in the patch that changes it. ${field.way ?? "Otherwise create another cluster."}`,
  }));
}

/**
 * Networks of the cluster, as its config has them after all patches, that have addresses in common with each other or
 * with a machine. A cluster that runs cannot change them any more: there it is a warning.
 */
export function overlapFindings(desired: DesiredCluster, observed: ObservedCluster): readonly Finding[] {
  const first = desired.machines.find(({ role }) => role === "controlplane");
  if (first === undefined) return [];
  const networks = (field: Field) => field.in(first.config)?.split(", ") ?? [];
  const nodes = desired.machines.map(({ name, address }) => ({ cidr: address, what: `${name}'s address` }));
  const { podsAndServicesApart, nodesApart } = settingRules;
  const severity = [...observed.machines.values()].some((machine) => configured(machine)) ? "warning" : "error";
  return [podsAndServicesApart, nodesApart].flatMap((rule) =>
    rule({ podCidrs: networks(podCidrs), serviceCidrs: networks(serviceCidrs), nodes }).map(
      ({ path, found, expected, hint }) => {
        return { severity, message: `${settingPath(path)}: found ${found}, expected ${expected}`, hint };
      },
    ),
  );
}

/** By most control planes, or, where a stack has none, by any machine: one that has drifted alone decides nothing. */
function isInUse(field: Field, value: string, observed: ObservedCluster): boolean {
  const machines = [...observed.machines.values()].flatMap((machine) => {
    const config = configured(machine)?.config;
    return config === undefined ? [] : [{ role: machine.role, config }];
  });
  const planes = machines.filter(({ role }) => role === "controlplane");
  const using = (some: typeof machines) => some.filter(({ config }) => field.in(config) === value).length;
  return planes.length === 0 ? using(machines) > 0 : using(planes) * 2 > planes.length;
}
