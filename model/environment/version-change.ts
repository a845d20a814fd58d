// SPDX-License-Identifier: Apache-2.0

import { isMap, isSeq, parseDocument } from "yaml";
import { TalosError } from "../../talos/errors.ts";
import { KubernetesVersion, newestKubernetesOf, TalosVersion } from "../../talos/version/index.ts";
import { parseYamlDocument } from "../../talos/yaml/index.ts";
import { editValue } from "./edit-value.ts";
import { controlPlanePool, type Environment } from "./environment.ts";
import { environmentFile, parseEnvironment } from "./parse-environment.ts";
import type { ReadFile } from "./references.ts";
import { YamlSource } from "./yaml-source.ts";

export type VersionField = "talosVersion" | "kubernetesVersion";

export interface VersionChange {
  readonly before: Environment;
  /** The environment with the new version. */
  readonly after: Environment;
  /** The file that has the version, or is to have it. */
  readonly file: string;
  /** Its text with the new version; undefined when it has it already. */
  readonly text: string | undefined;
}

/**
 * What to write so that an environment gets a newer version: in the file where the version stands, and nothing else.
 * `1.14` and `latest` become the newest exact version known. Throws when the way from the version of now to that one is not supported.
 */
export function changeVersion(name: string, field: VersionField, version: string, read: ReadFile): VersionChange {
  const before = parseEnvironment(name, read);
  const to = (
    field === "talosVersion"
      ? TalosVersion.resolve(version)
      : TalosVersion.parse(before.cluster.talosVersion).resolveKubernetes(version)
  ).toString();
  if (field === "kubernetesVersion" && before.joins !== undefined) {
    throw new TalosError("failed-precondition", `${name} takes its Kubernetes version from ${before.joins.name}`, {
      hint: `Upgrade that one: talosmith upgrade k8s ${before.joins.name} --to ${to}`,
    });
  }
  const file = fileWith(name, field, read);
  if (before.cluster[field] === to) return { before, after: before, file, text: undefined };
  const kubernetesIsSaid = isSaid(name, "kubernetesVersion", read) || before.joins !== undefined;
  if (field === "talosVersion") checkTalos(before, to, kubernetesIsSaid);
  else checkKubernetes(before, to);
  const text = editValue(read(file) ?? "", file, ["cluster", field], to);
  const after = parseEnvironment(name, (path) => (path === file ? text : read(path)));
  if (after.cluster[field] === to) return { before, after, file, text };
  throw new TalosError("internal", `${file} with cluster.${field}: ${to} still means ${after.cluster[field]}`);
}

/** The environment's own file wins; what nobody says is added there. */
function fileWith(name: string, field: VersionField, read: ReadFile): string {
  const [own, base] = [environmentFile(name), environmentFile("base")];
  return !says(own, field, read) && says(base, field, read) ? base : own;
}

function isSaid(name: string, field: VersionField, read: ReadFile): boolean {
  return [environmentFile(name), environmentFile("base")].some((file) => says(file, field, read));
}

function says(file: string, field: VersionField, read: ReadFile): boolean {
  const text = read(file);
  return text !== undefined && YamlSource.parse(file, text).node(["cluster", field]) !== undefined;
}

function checkTalos({ name, cluster }: Environment, version: string, kubernetesIsSaid: boolean): void {
  const [from, to] = [TalosVersion.parse(cluster.talosVersion), TalosVersion.parse(version)];
  if (to.compare(from) < 0) throw goingDown(name, "Talos", from, to);
  to.requireUpgradeFrom(from);
  const { installImage, kubernetesVersion } = cluster;
  if (installImage !== undefined && !installImage.endsWith(`:${version}`)) {
    throw new TalosError(
      "failed-precondition",
      `cluster.installImage of ${name} is ${installImage}, not a ${version}`,
      {
        hint: `Give it the tag ${version} in the same file, or remove it: then the image follows from version and schematic.`,
      },
    );
  }
  if (kubernetesIsSaid) {
    to.requireKubernetes(kubernetesVersion);
    return;
  }
  const [now, next] = [kubernetesVersion, to.defaultKubernetesVersion].map(KubernetesVersion.parse);
  if (now === undefined || next === undefined || now.canUpgradeTo(next)) return;
  throw new TalosError(
    "failed-precondition",
    `${name} names no Kubernetes version: with Talos ${version} it would go from ${now} to ${next} at once`,
    { hint: `Write it down first, as cluster.kubernetesVersion: ${now}, and upgrade Kubernetes step by step.` },
  );
}

function checkKubernetes({ name, cluster }: Environment, version: string): void {
  const [from, to] = [KubernetesVersion.parse(cluster.kubernetesVersion), KubernetesVersion.parse(version)];
  if (from.canRollBackTo(to)) return;
  if (to.compare(from) < 0) throw goingDown(name, "Kubernetes", from, to);
  if (!from.canUpgradeTo(to)) {
    throw new TalosError("failed-precondition", `unsupported upgrade path ${from} -> ${to}`, {
      hint: `Kubernetes goes up by one minor release at a time: to ${newestKubernetesOf(`1.${from.minor + 1}`) ?? `a 1.${from.minor + 1}`} first.`,
    });
  }
  TalosVersion.parse(cluster.talosVersion).requireKubernetes(version);
}

function goingDown(name: string, what: string, from: object, to: object): TalosError {
  return new TalosError("failed-precondition", `${name} has ${what} ${from}, and versions only go up: not to ${to}`, {
    hint: "To get an older state of the cluster back, restore a backup.",
  });
}

/** The text of an environment file with another number of machines in a pool; the control planes are the pool `cp`. */
export function withCount(text: string, file: string, pool: string, count: number): string {
  if (pool === controlPlanePool) return editValue(text, file, ["controlPlane", "count"], String(count));
  // Refuses what the loader refuses, and what the yaml package alone would choke on.
  parseYamlDocument(text, file);
  const workers = parseDocument(text).get("workers");
  const pools = isSeq(workers) ? workers.items : [];
  // A pool without a name is called w.
  const index = pools.findIndex((item) => isMap(item) && (item.get("name") ?? "w") === pool);
  if (index < 0) {
    throw new TalosError("not-found", `${file} has no pool of workers called ${pool}`, {
      hint: "If environments/base.yaml has it, change it there, or write the pools into the environment's file.",
    });
  }
  return editValue(text, file, ["workers", index, "count"], String(count));
}
