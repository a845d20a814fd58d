// SPDX-License-Identifier: Apache-2.0
// An environment file as objects: the way from a project to custom resources.
import { filled, given } from "../talos/given.ts";
import { type Data, isData } from "../talos/yaml/index.ts";
import { secretNames } from "./cluster-secrets.ts";
import { apiVersion, type KindName } from "./kinds/common.ts";

interface NewObject extends Data {
  readonly apiVersion: string;
  readonly kind: KindName;
}

/** The TalosCluster of an environment, observed only, with an object for each add-on and for the schedule of its backups. */
export function objectsOf(name: string, environment: Data): readonly NewObject[] {
  const { addons, backup, secrets: _, outputs: __, ...sections } = environment;
  const { patchFiles: ____, ...cluster } = isData(sections.cluster) ? sections.cluster : {};
  const clusterRef = { name };
  const { schedule, timeZone, ...place } = isData(backup) ? backup : {};
  const object = (kind: KindName, as: string, spec: Data): NewObject => ({
    apiVersion,
    kind,
    metadata: { name: as },
    spec,
  });
  const spec = given({ manage: "Observe", ...sections, cluster, backup: filled(place) });
  const releases = Array.isArray(addons) ? (addons as readonly Data[]) : [];
  return [
    object("TalosCluster", name, spec),
    ...releases.map(({ after: ___, ...addon }) =>
      object("TalosClusterAddon", String(addon.name), { clusterRef, ...addon }),
    ),
    ...(schedule === undefined
      ? []
      : [object("TalosEtcdBackupSchedule", name, given({ clusterRef, schedule, timeZone }))]),
  ];
}

/** How the bundle, and patches that hold secrets, get from files into the Secret where the operator looks for them. */
export function bundleCommand(name: string, bundle: string, patches: readonly string[]): string {
  const files = [`secrets.yaml=${bundle}`, ...patches.map((file) => `patches.yaml=${file}`)];
  return `kubectl create secret generic ${secretNames(name).bundle} ${files.map((file) => `--from-file=${file}`).join(" ")}`;
}
