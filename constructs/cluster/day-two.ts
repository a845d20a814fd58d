// SPDX-License-Identifier: Apache-2.0
import { type AddonPlan, addonsOf, type Environment } from "../../model/index.ts";
import { AddonResource, type EtcdSnapshotArguments, EtcdSnapshotResource } from "../talosmith/index.ts";
import type { BindingMeta } from "../terraform/index.ts";
import type { TalosCluster } from "./talos-cluster.ts";

/** What an environment asks for beyond its cluster. */
export type DayTwo = Pick<Environment, "addons" | "storage" | "backup">;

/** The add-ons of a cluster, each after the pod network and what it names, and a first backup. */
export function addDayTwo<Settings>(cluster: TalosCluster<Settings>, wishes: DayTwo): void {
  const endpoints = cluster.talosEndpoints;
  const made = new Map<string, { readonly plan: AddonPlan; readonly resource: AddonResource }>();
  for (const plan of addonsOf(wishes)) {
    const before = [...made.values()].filter(
      (other) => (other.plan.cni && !plan.cni) || plan.after.includes(other.plan.name),
    );
    const meta: BindingMeta = {
      ...cluster.bindingMeta,
      dependsOn: [cluster.resource, ...before.map(({ resource }) => resource)],
    };
    const resource = new AddonResource(
      cluster.clusterScope,
      `addon-${plan.name}`,
      { endpoints, ...addonArguments(plan) },
      meta,
    );
    made.set(plan.name, { plan, resource });
  }
  if (wishes.backup === undefined) return;
  new EtcdSnapshotResource(
    cluster.clusterScope,
    "backup",
    {
      cluster_name: cluster.clusterName,
      endpoints,
      ...placeOf(wishes.backup, cluster.clusterName),
      triggers: { talos: cluster.talosVersion.toString(), kubernetes: cluster.kubernetesVersion },
    },
    { ...cluster.bindingMeta, dependsOn: [cluster.resource] },
  );
}

function addonArguments({ name, namespace, chart, repository, version, values, ...plan }: AddonPlan) {
  const { username, passwordEnv, passwordFile } = plan.credentials ?? {};
  return {
    name,
    namespace,
    chart,
    ...(repository === undefined ? {} : { repository }),
    ...(version === undefined ? {} : { version }),
    ...(values === "" ? {} : { values: [values] }),
    ...(plan.valuesFiles.length === 0 ? {} : { values_files: plan.valuesFiles }),
    ...(username === undefined
      ? {}
      : {
          credentials: {
            username,
            ...(passwordEnv === undefined ? {} : { password_env: passwordEnv }),
            ...(passwordFile === undefined ? {} : { password_file: passwordFile }),
          },
        }),
    // A pod network ends with its cluster: without it nothing else could be taken down in order.
    ...(plan.cni ? { cni: true, on_destroy: "keep" } : {}),
    ...(plan.wait ? {} : { wait: false }),
    ...(plan.timeout === 600_000 ? {} : { timeout: `${Math.ceil(plan.timeout / 1000)}s` }),
  };
}

function placeOf(
  { directory, s3, pki }: NonNullable<DayTwo["backup"]>,
  cluster: string,
): Pick<EtcdSnapshotArguments, "directory" | "s3" | "pki_age_recipients"> {
  return {
    ...(directory === undefined ? {} : { directory }),
    ...(s3 === undefined
      ? {}
      : {
          s3: {
            bucket: s3.bucket,
            prefix: s3.prefix ?? cluster,
            ...(s3.region === undefined ? {} : { region: s3.region }),
            ...(s3.endpoint === undefined ? {} : { endpoint: s3.endpoint }),
            ...(s3.pathStyle === undefined ? {} : { path_style: s3.pathStyle }),
            ...(s3.sse === undefined ? {} : { sse: s3.sse }),
            ...(s3.kmsKeyId === undefined ? {} : { kms_key_id: s3.kmsKeyId }),
            ...(s3.profile === undefined ? {} : { profile: s3.profile }),
          },
        }),
    ...(pki === undefined ? {} : { pki_age_recipients: pki.ageRecipients }),
  };
}
