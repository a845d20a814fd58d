// SPDX-License-Identifier: Apache-2.0
import { type Cluster, type KubernetesObject, specOf, type Tree } from "../machine/world.ts";
import { isCustomGroup, listObjects } from "./store.ts";

type Row = readonly [name: string, kind: string, namespaced: boolean, shortNames?: string, categories?: string];

const table: Readonly<Record<string, readonly Row[]>> = {
  v1: [
    ["nodes", "Node", false, "no"],
    ["pods", "Pod", true, "po", "all"],
    ["namespaces", "Namespace", false, "ns"],
    ["events", "Event", true, "ev"],
    ["configmaps", "ConfigMap", true, "cm"],
    ["secrets", "Secret", true],
    ["services", "Service", true, "svc", "all"],
    ["endpoints", "Endpoints", true, "ep"],
    ["serviceaccounts", "ServiceAccount", true, "sa"],
    ["persistentvolumes", "PersistentVolume", false, "pv"],
    ["persistentvolumeclaims", "PersistentVolumeClaim", true, "pvc"],
    ["replicationcontrollers", "ReplicationController", true, "rc", "all"],
    ["limitranges", "LimitRange", true, "limits"],
    ["resourcequotas", "ResourceQuota", true, "quota"],
    ["podtemplates", "PodTemplate", true],
  ],
  "apps/v1": [
    ["deployments", "Deployment", true, "deploy", "all"],
    ["daemonsets", "DaemonSet", true, "ds", "all"],
    ["replicasets", "ReplicaSet", true, "rs", "all"],
    ["statefulsets", "StatefulSet", true, "sts", "all"],
    ["controllerrevisions", "ControllerRevision", true],
  ],
  "batch/v1": [
    ["jobs", "Job", true, "", "all"],
    ["cronjobs", "CronJob", true, "cj", "all"],
  ],
  "policy/v1": [["poddisruptionbudgets", "PodDisruptionBudget", true, "pdb"]],
  "coordination.k8s.io/v1": [["leases", "Lease", true]],
  "discovery.k8s.io/v1": [["endpointslices", "EndpointSlice", true]],
  "rbac.authorization.k8s.io/v1": [
    ["clusterroles", "ClusterRole", false],
    ["clusterrolebindings", "ClusterRoleBinding", false],
    ["roles", "Role", true],
    ["rolebindings", "RoleBinding", true],
  ],
  "storage.k8s.io/v1": [
    ["storageclasses", "StorageClass", false, "sc"],
    ["csidrivers", "CSIDriver", false],
    ["csinodes", "CSINode", false],
    ["csistoragecapacities", "CSIStorageCapacity", true],
    ["volumeattachments", "VolumeAttachment", false],
  ],
  "networking.k8s.io/v1": [
    ["ingresses", "Ingress", true, "ing"],
    ["ingressclasses", "IngressClass", false],
    ["networkpolicies", "NetworkPolicy", true, "netpol"],
  ],
  "scheduling.k8s.io/v1": [["priorityclasses", "PriorityClass", false, "pc"]],
  "node.k8s.io/v1": [["runtimeclasses", "RuntimeClass", false]],
  "autoscaling/v2": [["horizontalpodautoscalers", "HorizontalPodAutoscaler", true, "hpa", "all"]],
  "certificates.k8s.io/v1": [["certificatesigningrequests", "CertificateSigningRequest", false, "csr"]],
  "admissionregistration.k8s.io/v1": [
    ["mutatingwebhookconfigurations", "MutatingWebhookConfiguration", false, "", "api-extensions"],
    ["validatingwebhookconfigurations", "ValidatingWebhookConfiguration", false, "", "api-extensions"],
    ["validatingadmissionpolicies", "ValidatingAdmissionPolicy", false, "", "api-extensions"],
    ["validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding", false, "", "api-extensions"],
  ],
  "apiextensions.k8s.io/v1": [
    ["customresourcedefinitions", "CustomResourceDefinition", false, "crd crds", "api-extensions"],
  ],
  "apiregistration.k8s.io/v1": [["apiservices", "APIService", false, "", "api-extensions"]],
};

export function resourcesOf(groupVersion: string, rows: readonly Row[]): ApiResource[] {
  const [version = "v1", group = ""] = groupVersion.split("/").reverse();
  const words = (text = ""): string[] => text.split(" ").filter((word) => word !== "");
  return rows.map(([name, kind, namespaced, shortNames, categories]) => ({
    group,
    version,
    name,
    kind,
    namespaced,
    singular: kind.toLowerCase(),
    shortNames: words(shortNames),
    categories: words(categories),
  }));
}

const builtIn: readonly ApiResource[] = Object.entries(table).flatMap(([name, rows]) => resourcesOf(name, rows));

/** What the server knows by itself and what its custom resource definitions add. */
export function apiResources(cluster: Cluster | undefined): readonly ApiResource[] {
  return [...builtIn, ...customResources(cluster)];
}

/** The key prefix under which a resource's objects are stored; all versions of a resource share it. */
export function storageName(resource: Pick<ApiResource, "group" | "name">): string {
  return resource.group === "" ? resource.name : `${resource.name}.${resource.group}`;
}

export function apiVersionOf({ group, version }: Pick<ApiResource, "group" | "version">): string {
  return group === "" ? version : `${group}/${version}`;
}

export function findResource(
  cluster: Cluster | undefined,
  group: string,
  version: string,
  name: string,
): ApiResource | undefined {
  return apiResources(cluster).find(
    (candidate) => candidate.group === group && candidate.version === version && candidate.name === name,
  );
}

/** Whether the server knows anything of this group. */
export function isServed(cluster: Cluster | undefined, group: string): boolean {
  return apiResources(cluster).some((candidate) => candidate.group === group);
}

/** Kinds whose objects have no status of their own. */
const stateless: ReadonlySet<string> = new Set([
  ...["configmaps", "secrets", "events", "endpoints", "serviceaccounts", "limitranges", "podtemplates"],
  ...[
    "controllerrevisions",
    "leases",
    "endpointslices",
    "clusterroles",
    "clusterrolebindings",
    "roles",
    "rolebindings",
  ],
  ...["storageclasses", "csidrivers", "csinodes", "csistoragecapacities", "ingressclasses", "networkpolicies"],
  ...["priorityclasses", "runtimeclasses", "mutatingwebhookconfigurations", "validatingwebhookconfigurations"],
  "validatingadmissionpolicybindings",
]);

export const hasStatus = ({ name }: Pick<ApiResource, "name">): boolean => !stateless.has(name);

/** The resource that stores objects of this apiVersion and kind. */
export function findKind(cluster: Cluster | undefined, apiVersion: string, kind: string): ApiResource | undefined {
  return apiResources(cluster).find((candidate) => candidate.kind === kind && apiVersionOf(candidate) === apiVersion);
}

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

/** Whether a custom resource definition made it. */
export const isCustom = ({ group }: Pick<ApiResource, "group">): boolean => isCustomGroup(group);

export const definitionStorage = "customresourcedefinitions.apiextensions.k8s.io";

interface DefinitionSpec {
  readonly group?: string;
  readonly scope?: string;
  readonly names?: {
    readonly plural?: string;
    readonly kind?: string;
    readonly singular?: string;
    readonly shortNames?: readonly string[];
    readonly categories?: readonly string[];
  };
  readonly versions?: readonly { readonly name: string; readonly served?: boolean; readonly storage?: boolean }[];
}

/** The resources that the cluster's custom resource definitions add, one per served version. */
function customResources(cluster: Cluster | undefined): readonly ApiResource[] {
  return listObjects(cluster, definitionStorage).flatMap((definition) => {
    const { group = "", scope, names = {}, versions = [] } = specOf<DefinitionSpec>(definition);
    const kind = names.kind ?? "";
    return versions
      .filter((version) => version.served !== false)
      .map((version) => ({
        group,
        version: version.name,
        name: names.plural ?? "",
        kind,
        namespaced: scope !== "Cluster",
        singular: names.singular ?? kind.toLowerCase(),
        shortNames: names.shortNames ?? [],
        categories: names.categories ?? [],
      }));
  });
}

/** The status of a definition whose names are taken and whose resources are served. */
export function establishedStatus(definition: KubernetesObject, at: string): Tree {
  const { names = {}, versions = [] } = specOf<DefinitionSpec>(definition);
  const condition = (type: string, reason: string, message: string): Tree => ({
    type,
    status: "True",
    reason,
    message,
    lastTransitionTime: at,
  });
  return {
    acceptedNames: { listKind: `${names.kind ?? ""}List`, singular: (names.kind ?? "").toLowerCase(), ...names },
    conditions: [
      condition("NamesAccepted", "NoConflicts", "no conflicts found"),
      condition("Established", "InitialNamesAccepted", "the initial names have been accepted"),
    ],
    storedVersions: versions.filter((version) => version.storage === true).map((version) => version.name),
  };
}
