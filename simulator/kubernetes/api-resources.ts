// SPDX-License-Identifier: Apache-2.0

/** A kind of object that the simulated API server stores. */
export interface ApiResource {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  /** The plural, as in the path. */
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
}

const core = (name: string, kind: string, namespaced: boolean, short = "", categories = ""): ApiResource =>
  resource("", "v1", name, kind, namespaced, short, categories);

function resource(
  group: string,
  version: string,
  name: string,
  kind: string,
  namespaced: boolean,
  short = "",
  categories = "",
): ApiResource {
  const words = (text: string): string[] => text.split(" ").filter((word) => word !== "");
  return {
    group,
    version,
    name,
    kind,
    namespaced,
    singular: kind.toLowerCase(),
    shortNames: words(short),
    categories: words(categories),
  };
}

export const apiResources: readonly ApiResource[] = [
  core("nodes", "Node", false, "no"),
  core("pods", "Pod", true, "po", "all"),
  core("namespaces", "Namespace", false, "ns"),
  core("events", "Event", true, "ev"),
  core("configmaps", "ConfigMap", true, "cm"),
  core("secrets", "Secret", true),
  core("services", "Service", true, "svc", "all"),
  core("endpoints", "Endpoints", true, "ep"),
  core("serviceaccounts", "ServiceAccount", true, "sa"),
  core("persistentvolumes", "PersistentVolume", false, "pv"),
  core("persistentvolumeclaims", "PersistentVolumeClaim", true, "pvc"),
  core("replicationcontrollers", "ReplicationController", true, "rc", "all"),
  resource("apps", "v1", "deployments", "Deployment", true, "deploy", "all"),
  resource("apps", "v1", "daemonsets", "DaemonSet", true, "ds", "all"),
  resource("apps", "v1", "replicasets", "ReplicaSet", true, "rs", "all"),
  resource("apps", "v1", "statefulsets", "StatefulSet", true, "sts", "all"),
  resource("batch", "v1", "jobs", "Job", true, "", "all"),
  resource("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", true, "pdb"),
  resource("coordination.k8s.io", "v1", "leases", "Lease", true),
  resource("rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", false),
  resource("rbac.authorization.k8s.io", "v1", "clusterrolebindings", "ClusterRoleBinding", false),
  resource("rbac.authorization.k8s.io", "v1", "roles", "Role", true),
  resource("rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding", true),
];

/** The key prefix under which a resource's objects are stored. */
export function storageName(resource: ApiResource): string {
  return resource.group === "" ? resource.name : `${resource.name}.${resource.group}`;
}

export function findResource(group: string, version: string, name: string): ApiResource | undefined {
  return apiResources.find(
    (candidate) => candidate.group === group && candidate.version === version && candidate.name === name,
  );
}
