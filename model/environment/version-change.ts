// SPDX-License-Identifier: Apache-2.0

import { isMap, isSeq, parseDocument } from "yaml";
import { TalosError } from "../../talos/errors.ts";
import { installerOf } from "../../talos/image/index.ts";
import {
  KubernetesVersion,
  knownKubernetesVersions,
  knownTalosVersions,
  newestKubernetesOf,
  TalosVersion,
} from "../../talos/version/index.ts";
import { parseYamlDocument } from "../../talos/yaml/index.ts";
import { editValue, removeValue, type ValuePath } from "./edit-value.ts";
import { controlPlanePool, type Environment } from "./environment.ts";
import { environmentFile, parseEnvironment } from "./parse-environment.ts";
import { recordedFactsOf } from "./recorded-state.ts";
import { type ReadFile, withTexts } from "./references.ts";
import { YamlSource } from "./yaml-source.ts";

export type VersionField = "talosVersion" | "kubernetesVersion";

export interface VersionChange {
  readonly before: Environment;
  /** The environment with the new version. */
  readonly after: Environment;
  /** The file that has the version, or is to have it. */
  readonly file: string;
  /** The files that change, with their new texts: none when the file has the version already. */
  readonly texts: ReadonlyMap<string, string>;
  /** Installer images that the files name, and that go along with the Talos version. */
  readonly images: readonly ImageChange[];
}

export interface ImageChange {
  readonly path: ValuePath;
  readonly from: string;
  readonly to: string;
}

/**
 * What to write so that an environment gets a newer version: in the file where the version stands. With another
 * Talos also the contract of the configs, where no file has it yet, and the tags of installer images.
 * `1.14` and `latest` become the newest exact version known. Throws when the way from the version of now to that one is not supported.
 */
export function changeVersion(name: string, field: VersionField, version: string, read: ReadFile): VersionChange {
  // An image of another release is put right by this; the result is held to every rule.
  const before = parseEnvironment(name, read, { existing: true });
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
  const file = fileWith(name, ["cluster", field], read);
  if (before.cluster[field] === to)
    return { before, after: parseEnvironment(name, read), file, texts: new Map(), images: [] };
  const kubernetesIsSaid = isSaid(name, "kubernetesVersion", read) || before.joins !== undefined;
  if (field === "talosVersion") checkTalos(before, to, kubernetesIsSaid);
  else checkKubernetes(before, to);
  const texts = new Map(field === "talosVersion" ? contractToWrite(before, read) : []);
  const images = field === "talosVersion" ? imageChanges(before, TalosVersion.parse(to)) : [];
  const write = (place: string, path: ValuePath, value: string) =>
    texts.set(place, editValue(texts.get(place) ?? read(place) ?? "", place, path, value));
  write(file, ["cluster", field], to);
  for (const image of images) write(fileWith(name, image.path, read), image.path, image.to);
  const after = parseEnvironment(name, withTexts(read, texts));
  if (after.cluster[field] === to) return { before, after, file, texts, images };
  throw new TalosError("internal", `${file} with cluster.${field}: ${to} still means ${after.cluster[field]}`);
}

/** Newer versions known that an environment can be upgraded to in one step, oldest first. */
export function availableVersions(name: string, field: VersionField, read: ReadFile): readonly string[] {
  const known = field === "talosVersion" ? knownTalosVersions : knownKubernetesVersions;
  return known.filter((version) => {
    try {
      return isNewer(changeVersion(name, field, version, read), field);
    } catch (error) {
      if (error instanceof TalosError && error.code !== "internal") return false;
      throw error;
    }
  });
}

function isNewer({ before, after }: VersionChange, field: VersionField): boolean {
  const [from, to] = [before.cluster[field], after.cluster[field]];
  return field === "talosVersion"
    ? TalosVersion.parse(to).compare(TalosVersion.parse(from)) > 0
    : KubernetesVersion.parse(to).compare(KubernetesVersion.parse(from)) > 0;
}

/** What to write so that a file has the contract of the environment's configs; nothing where one has it. */
export function contractToWrite({ name, cluster, joins }: Environment, read: ReadFile): ReadonlyMap<string, string> {
  if (joins !== undefined || isSaid(name, "configContract", read)) return new Map();
  const file = environmentFile(name);
  return new Map([[file, editValue(read(file) ?? "", file, ["cluster", "configContract"], cluster.configContract)]]);
}

/** What to write so that the file has no `previousContract` any more, once the record of a deploy has the new contract. */
export function migratedContract({ name, file, cluster }: Environment, read: ReadFile): ReadonlyMap<string, string> {
  const isDeployed = recordedFactsOf(name, read).contract === cluster.configContract;
  const before = read(file) ?? "";
  const text = isDeployed ? removeValue(before, file, ["cluster", "previousContract"]) : before;
  return new Map(text === before ? [] : [[file, text]]);
}

/** The environment's own file wins; what nobody says is added there. */
function fileWith(name: string, path: ValuePath, read: ReadFile): string {
  const [own, base] = [environmentFile(name), environmentFile("base")];
  return !says(own, path, read) && says(base, path, read) ? base : own;
}

function isSaid(name: string, field: VersionField | "configContract", read: ReadFile): boolean {
  return [environmentFile(name), environmentFile("base")].some((file) => says(file, ["cluster", field], read));
}

function says(file: string, path: ValuePath, read: ReadFile): boolean {
  const text = read(file);
  return text !== undefined && YamlSource.parse(file, text).node(path) !== undefined;
}

/** The images that the files name, as those of another release: machines are upgraded with them. */
function imageChanges(environment: Environment, version: TalosVersion): readonly ImageChange[] {
  const { name, cluster } = environment;
  const ofMachines = environment.kind === "metal" ? Object.entries(environment.infrastructure.machines) : [];
  const named: readonly (readonly [ValuePath, string | undefined])[] = [
    [["cluster", "installImage"], cluster.installImage],
    ...ofMachines.map(([machine, { image }]) => [["infrastructure", "machines", machine, "image"], image] as const),
  ];
  return named.flatMap(([path, from]) => {
    if (from === undefined || from.endsWith(`:${version}`)) return [];
    const to = installerOf(from, version);
    if (to !== undefined) return [{ path, from, to }];
    throw new TalosError("failed-precondition", `${path.join(".")} of ${name} is ${from}, not a ${version}`, {
      hint: `Write the image of ${version} in the same file, or remove it: then the image follows from version and schematic.`,
    });
  });
}

function checkTalos({ name, cluster }: Environment, version: string, kubernetesIsSaid: boolean): void {
  const [from, to] = [TalosVersion.parse(cluster.talosVersion), TalosVersion.parse(version)];
  if (to.compare(from) < 0) throw goingDown(name, "Talos", from, to);
  to.requireUpgradeFrom(from);
  const { kubernetesVersion } = cluster;
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

/** What to read instead of an environment's file, so that nothing waits for Kubernetes. Its own file wins over the base. */
export function withoutKubernetes({ name }: Pick<Environment, "name">, read: ReadFile): ReadonlyMap<string, string> {
  const file = environmentFile(name);
  return new Map([[file, editValue(read(file) ?? "", file, ["rollout", "healthLevel"], "talos")]]);
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
