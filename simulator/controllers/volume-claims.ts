// SPDX-License-Identifier: Apache-2.0
import { isTree } from "../kubernetes/field-paths.ts";
import { createObject, getObject, listObjects, updateObject } from "../kubernetes/store.ts";
import type { Moment } from "../machine/moment.ts";
import type { Cluster, KubernetesObject } from "../machine/world.ts";

const defaultClass = "storageclass.kubernetes.io/is-default-class";

interface ClaimSpec {
  readonly storageClassName?: string;
  readonly volumeName?: string;
  readonly accessModes?: readonly string[];
  readonly resources?: { readonly requests?: { readonly storage?: string } };
}

/** Gives a claim the volume that its storage class provisions; a claim without a class that exists waits. */
export function bindClaims(cluster: Cluster, moment: Moment): Cluster {
  return listObjects(cluster, "persistentvolumeclaims").reduce((next, claim) => bind(next, claim, moment), cluster);
}

function bind(cluster: Cluster, claim: KubernetesObject, moment: Moment): Cluster {
  const spec = (claim.spec ?? {}) as ClaimSpec;
  if (isTree(claim.status) && claim.status.phase === "Bound") return cluster;
  const wanted = classOf(cluster, spec);
  if (wanted === undefined || wanted.provisioner === "kubernetes.io/no-provisioner") return cluster;
  const name = `pvc-${claim.metadata.uid}`;
  const capacity = { storage: spec.resources?.requests?.storage ?? "1Gi" };
  const { namespace, uid } = claim.metadata;
  const volume = {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name, annotations: { "pv.kubernetes.io/provisioned-by": String(wanted.provisioner) } },
    spec: {
      accessModes: spec.accessModes ?? ["ReadWriteOnce"],
      capacity,
      claimRef: { apiVersion: "v1", kind: "PersistentVolumeClaim", name: claim.metadata.name, namespace, uid },
      csi: { driver: String(wanted.provisioner), volumeHandle: name },
      persistentVolumeReclaimPolicy: String(wanted.reclaimPolicy ?? "Delete"),
      storageClassName: wanted.metadata.name,
      volumeMode: "Filesystem",
    },
    status: { phase: "Bound" },
  };
  const made =
    getObject(cluster, "persistentvolumes", undefined, name) === undefined
      ? createObject(cluster, "persistentvolumes", volume, moment)
      : cluster;
  const bound = { ...spec, storageClassName: wanted.metadata.name, volumeName: name };
  const status = { phase: "Bound", accessModes: spec.accessModes ?? ["ReadWriteOnce"], capacity };
  return updateObject(made, "persistentvolumeclaims", { ...claim, spec: bound, status });
}

function classOf(cluster: Cluster, spec: ClaimSpec): KubernetesObject | undefined {
  const classes = listObjects(cluster, "storageclasses.storage.k8s.io");
  if (spec.storageClassName === undefined) {
    return classes.find((candidate) => candidate.metadata.annotations?.[defaultClass] === "true");
  }
  return classes.find((candidate) => candidate.metadata.name === spec.storageClassName);
}
