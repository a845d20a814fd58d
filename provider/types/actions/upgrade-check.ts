// SPDX-License-Identifier: Apache-2.0
import type { DesiredCluster, ObservedCluster } from "../../../engine/index.ts";
import { rolloutSettings } from "../../../model/settings/index.ts";
import { type Action, type Attributes, attribute, DiagnosticError } from "../../framework/index.ts";
import { adminOf, withMachines } from "../access.ts";
import type { Client } from "../client.ts";
import { policyOf } from "../cluster/spec.ts";
import { clusterAsKnownBy, firstAnswer } from "../known-cluster.ts";
import { attributesOf } from "../setting-attributes.ts";
import { reasonOf } from "../translate-error.ts";
import { controlPlaneAddresses } from "../value-rules.ts";

const attributes = {
  endpoints: controlPlaneAddresses,
  talos_version: attribute.optional.string("Talos release to upgrade to. Default: none is checked."),
  kubernetes_version: attribute.optional.string("Kubernetes version to upgrade to. Default: the one that runs."),
  rollout: attribute.optional.nestedObject(
    "How careful to be, as in the `talosmith_cluster`.",
    attributesOf(rolloutSettings),
  ),
} satisfies Attributes;

export const upgradeCheck: Action<typeof attributes, Client> = {
  name: "talosmith_upgrade_check",
  description:
    "Checks whether a cluster can be upgraded now, and changes nothing: all its health checks pass, each machine can go from what it runs to these versions, and Talos supports the Kubernetes version. Fails with all that is in the way.",
  attributes,
  timeouts: { invoke: "5m" },

  async invoke({ config, client, signal, progress }) {
    const { endpoints } = config;
    await client.keepSimulator(endpoints);
    const { checkHealth, observe } = await import("../../../engine/index.ts");
    const secrets = await client.secrets.of(null);
    const ask = await adminOf(secrets);
    const { cluster: desired } = await firstAnswer(endpoints, signal, (address) =>
      clusterAsKnownBy(address, ask, secrets, signal),
    );
    const observed = await withMachines({ desired, secrets }, (machines) => observe(desired, { machines, signal }));
    const { checks } = await checkHealth({ desired, secrets, policy: policyOf(config), signal, wait: false });
    const ill = checks.flatMap(({ name, state, reason }) => (state === "failed" ? [`${name}: ${reason}`] : []));
    const obstacles = [...ill, ...(await versionObstacles(desired, observed, config))];
    if (obstacles.length > 0)
      throw new DiagnosticError({ summary: "The cluster cannot be upgraded now", detail: obstacles.join("\n") });
    const passed = checks.filter(({ state }) => state === "ok").length;
    progress(`${desired.name} can be upgraded: ${passed} health checks passed on ${observed.machines.size} machines`);
  },
};

interface Versions {
  readonly talos_version: string | null;
  readonly kubernetes_version: string | null;
}

async function versionObstacles(
  { kubernetesVersion, talosVersion }: DesiredCluster,
  { machines }: ObservedCluster,
  wanted: Versions,
): Promise<readonly string[]> {
  const { KubernetesVersion, TalosVersion } = await import("../../../talos/version/index.ts");
  const next = wanted.talos_version === null ? undefined : TalosVersion.parse(wanted.talos_version);
  const running = KubernetesVersion.parse(kubernetesVersion);
  const kubernetes = KubernetesVersion.parse(wanted.kubernetes_version ?? kubernetesVersion);
  const found: string[] = [];
  const check = (about: string, question: () => void) => {
    try {
      question();
    } catch (error) {
      found.push(`${about}: ${reasonOf(error)}`);
    }
  };
  for (const { name, state } of machines.values())
    if (next !== undefined && state.kind === "configured" && state.talosVersion !== undefined) {
      const from = TalosVersion.parse(state.talosVersion);
      check(name, () => next.requireUpgradeFrom(from));
      if (from.compare(next) > 0) found.push(`${name}: runs ${from.toString()}, and Talos is never downgraded`);
    }
  check("kubernetes_version", () => (next ?? talosVersion).requireKubernetes(kubernetes));
  if (!running.canUpgradeTo(kubernetes))
    found.push(
      `kubernetes_version: ${kubernetes.toString()} is more than one minor version above ${kubernetesVersion}, or older`,
    );
  return found;
}
