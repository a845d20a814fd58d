// SPDX-License-Identifier: Apache-2.0
import { isDeepStrictEqual } from "node:util";
import { TalosError } from "../errors.ts";
import { given } from "../given.ts";
import type { SecretsBundle } from "../secrets/index.ts";
import { Contract, type TalosVersion } from "../version/index.ts";
import { isData } from "../yaml/index.ts";
import type { ClusterConfig, Cni } from "./cluster-config.ts";
import { isUnset } from "./diff.ts";
import { generateConfigWithFacts } from "./generate/machine-config.ts";
import type { MachineConfig } from "./machine-config.ts";
import { machineFacts } from "./machine-facts.ts";

/**
 * The contract that the configs of a running cluster were made for: of those that its Talos accepts, the one whose
 * configs come nearest to them, so that the least is left to patch. Of several that are equally near, the newest.
 * No config says it, and an upgrade of Talos leaves configs as they are. The first config is that of a control plane.
 * Pure. Throws where a config cannot be used.
 */
export function detectContract(
  configs: readonly MachineConfig[],
  talosVersion: TalosVersion,
  secrets: SecretsBundle,
): Contract {
  const [first] = configs;
  if (first === undefined) throw new TalosError("internal", "no config to read a contract from");
  const cluster = clusterOf(first, talosVersion);
  const machines = configs.map((config) => ({ config, ...machineFacts(config) }));
  const [best] = Contract.all()
    .filter((contract) => talosVersion.accepts(contract))
    .map((contract) => {
      const distances = machines.map(({ config, type, hostname }) => {
        const made = generateConfigWithFacts({ ...cluster, contract }, secrets, { type, ...given({ hostname }) });
        return distance(made.config, config);
      });
      return { contract, meaning: sum(distances, "meaning"), form: sum(distances, "form") };
    })
    .sort((a, b) => a.meaning - b.meaning || a.form - b.form || b.contract.compare(a.contract));
  if (best === undefined) throw new TalosError("internal", `Talos ${talosVersion} accepts no contract`);
  return best.contract;
}

/** The pod network of a control plane's config. */
export function cniIn(config: MachineConfig): Cni {
  if (config.documents.has("KubeClusterConfig"))
    return { name: config.documents.has("KubeFlannelCNIConfig") ? "flannel" : "none" };
  const name = config.textAt("cluster.network.cni.name");
  if (name === "none") return { name };
  const urls = config.textsAt("cluster.network.cni.urls");
  return name === "custom" && urls.length > 0 ? { name, urls } : { name: "flannel" };
}

/** What a control plane's config says of its cluster, so that the rest of a generated one is its contract's. */
function clusterOf(config: MachineConfig, talosVersion: TalosVersion): ClusterConfig {
  const facts = machineFacts(config);
  const { clusterName, endpoint, kubernetesVersion, installDisk, installImage } = facts;
  const { dnsDomain, podSubnets, serviceSubnets, discovery, allowSchedulingOnControlPlanes } = facts;
  const kubespan = config.value("KubeSpanConfig:enabled") ?? config.value("machine.network.kubespan.enabled");
  return {
    ...{ clusterName, endpoint, talosVersion, kubernetesVersion, dnsDomain, podSubnets, serviceSubnets, discovery },
    ...{ allowSchedulingOnControlPlanes, additionalSans: facts.certSans, cni: cniIn(config) },
    ...given({ installDisk, installImage, kubespan: typeof kubespan === "boolean" ? kubespan : undefined }),
  };
}

interface Distance {
  /** Values to patch. */
  readonly meaning: number;
  /** What is empty in one and absent in the other: the same to Talos, but contracts differ in it. */
  readonly form: number;
}

function distance(made: MachineConfig, found: MachineConfig): Distance {
  return between(Object.fromEntries(made.documents), Object.fromEntries(found.documents));
}

/** Each value counts, also of a section that only one of the two has; lists count as a whole. */
function between(made: unknown, found: unknown): Distance {
  if (isUnset(made) && isUnset(found))
    return { meaning: 0, form: (made === undefined) === (found === undefined) ? 0 : 1 };
  if ((isData(made) || made === undefined) && (isData(found) || found === undefined)) {
    const keys = new Set([...Object.keys(made ?? {}), ...Object.keys(found ?? {})]);
    const parts = [...keys].map((key) => between(made?.[key], found?.[key]));
    return { meaning: sum(parts, "meaning"), form: sum(parts, "form") };
  }
  return { meaning: isDeepStrictEqual(made, found) ? 0 : 1, form: 0 };
}

function sum(distances: readonly Distance[], part: keyof Distance): number {
  return distances.reduce((total, distance) => total + distance[part], 0);
}
