// SPDX-License-Identifier: Apache-2.0
import { filled } from "../../talos/given.ts";
import { type AddonPlan, systemAddon, valuesText } from "./addon-plan.ts";
import { awsAddons } from "./aws-addons.ts";
import type { Environment } from "./environment.ts";

const nfsDriver = {
  name: "csi-driver-nfs",
  repository: "https://raw.githubusercontent.com/kubernetes-csi/csi-driver-nfs/master/charts",
  version: "4.13.1",
} as const;

/**
 * Every add-on of an environment in the order in which they are installed: the pod network, what the infrastructure
 * needs, those of the file, storage. Pure.
 */
export function addonsOf(environment: Environment): readonly AddonPlan[] {
  const { addons, storage } = environment;
  const listed = addons.map(({ values, namespace, ...addon }) => ({
    ...addon,
    namespace: namespace ?? addon.name,
    values: valuesText(values),
  }));
  const sorted = inOrder([
    ...listed.filter(({ cni }) => cni),
    ...infrastructureAddonsOf(environment),
    ...listed.filter(({ cni }) => !cni),
  ]);
  return storage.nfs === undefined ? sorted : [...sorted, nfsAddon(storage.nfs)];
}

/** Those that switches of the infrastructure install. */
export function infrastructureAddonsOf(environment: Environment): readonly AddonPlan[] {
  if (environment.kind !== "aws") return [];
  const { cluster, controlPlane, infrastructure, storage } = environment;
  return awsAddons({
    ...infrastructure,
    clusterName: cluster.name,
    kubernetesVersion: cluster.kubernetesVersion,
    controlPlanes: controlPlane?.count ?? 0,
    ebsIsDefault: storage.nfs?.default !== true,
  });
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
  return systemAddon({ ...nfsDriver, values: { storageClass } });
}
