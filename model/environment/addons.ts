// SPDX-License-Identifier: Apache-2.0
import { stringify } from "yaml";
import { filled } from "../../talos/given.ts";
import type { AddonSection } from "../schema/index.ts";
import type { Environment } from "./environment.ts";

/** An add-on that an environment asks for, with its values as YAML text. */
export type AddonPlan = Omit<AddonSection, "values" | "namespace"> & {
  readonly namespace: string;
  /** Empty text when there are none. */
  readonly values: string;
};

const nfsDriver = {
  name: "csi-driver-nfs",
  namespace: "kube-system",
  chart: "csi-driver-nfs",
  repository: "https://raw.githubusercontent.com/kubernetes-csi/csi-driver-nfs/master/charts",
  version: "4.13.1",
} as const;

/** Every add-on of an environment in the order in which they go in: the pod network first, storage last. Pure. */
export function addonsOf({ addons, storage }: Pick<Environment, "addons" | "storage">): readonly AddonPlan[] {
  const listed = addons.map(({ values, namespace, ...addon }) => ({
    ...addon,
    namespace: namespace ?? addon.name,
    values: Object.keys(values).length === 0 ? "" : stringify(values, { sortMapEntries: true }),
  }));
  const sorted = inOrder([...listed.filter(({ cni }) => cni), ...listed.filter(({ cni }) => !cni)]);
  return storage.nfs === undefined ? sorted : [...sorted, nfsAddon(storage.nfs)];
}

/** Each after those that it names; names that are not there, and circles, are faults of the file and told there. */
function inOrder(addons: readonly AddonPlan[]): readonly AddonPlan[] {
  const ordered = new Set<AddonPlan>();
  const visit = (addon: AddonPlan, path: readonly AddonPlan[]): void => {
    if (path.includes(addon)) return;
    for (const other of addons) if (addon.after.includes(other.name)) visit(other, [...path, addon]);
    ordered.add(addon);
  };
  for (const addon of addons) visit(addon, []);
  return [...ordered];
}

/** The NFS CSI driver with one StorageClass. */
function nfsAddon(nfs: NonNullable<Environment["storage"]["nfs"]>): AddonPlan {
  const storageClass = {
    create: true,
    name: nfs.name,
    annotations: { "storageclass.kubernetes.io/is-default-class": String(nfs.default) },
    parameters: { server: nfs.server, share: nfs.share },
    reclaimPolicy: nfs.reclaimPolicy,
    volumeBindingMode: "Immediate",
    mountOptions: filled(nfs.mountOptions),
  };
  return {
    ...nfsDriver,
    values: stringify({ storageClass }, { sortMapEntries: true }),
    valuesFiles: [],
    cni: false,
    after: [],
    wait: true,
    timeout: 600_000,
  };
}
