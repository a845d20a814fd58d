// SPDX-License-Identifier: Apache-2.0
// What kubectl, helm and talosmith ask before they work with objects.
import type { Body, Exchange, Scene } from "./exchange.ts";
import { table } from "./objects-of-scenes.ts";

const aggregated = (version: string) =>
  `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList,application/json`;
const groups = [
  "apps/v1",
  "batch/v1",
  "policy/v1",
  "coordination.k8s.io/v1",
  "rbac.authorization.k8s.io/v1",
  "storage.k8s.io/v1",
  "networking.k8s.io/v1",
  "apiextensions.k8s.io/v1",
  "apiregistration.k8s.io/v1",
  "authorization.k8s.io/v1",
  "authentication.k8s.io/v1",
  "discovery.k8s.io/v1",
  "scheduling.k8s.io/v1",
  "certificates.k8s.io/v1",
  "admissionregistration.k8s.io/v1",
];
const tabled = [
  ...["configmaps", "events", "endpoints", "namespaces", "nodes", "persistentvolumeclaims", "persistentvolumes"],
  ...["pods", "secrets", "serviceaccounts", "services"],
].map((name) => `/api/v1/${name}`);
const tabledOfGroups = [
  ...["apps/v1/daemonsets", "apps/v1/deployments", "apps/v1/replicasets", "apps/v1/statefulsets"],
  ...["batch/v1/jobs", "batch/v1/cronjobs", "policy/v1/poddisruptionbudgets", "coordination.k8s.io/v1/leases"],
  ...["storage.k8s.io/v1/storageclasses", "apiextensions.k8s.io/v1/customresourcedefinitions"],
  ...["rbac.authorization.k8s.io/v1/clusterroles", "rbac.authorization.k8s.io/v1/clusterrolebindings"],
  ...["networking.k8s.io/v1/ingresses", "networking.k8s.io/v1/networkpolicies"],
].map((name) => `/apis/${name}`);

interface NamedColumn {
  readonly name: string;
  readonly type: string;
  readonly priority: number;
}
const columns = (body: Body) => ({
  kind: body.kind,
  apiVersion: body.apiVersion,
  columns: (body.columnDefinitions as readonly NamedColumn[]).map(
    ({ name, type, priority }) => `${name} ${type} ${priority}`,
  ),
});

interface NamedResource {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly singularName: string;
}
/** By name: their order says nothing. */
const resources = (body: Body) => ({
  kind: body.kind,
  groupVersion: body.groupVersion,
  resources: Object.fromEntries(
    (body.resources as readonly NamedResource[]).map(
      ({ name, kind, namespaced, verbs, shortNames = [], categories = [], singularName }) => [
        name,
        [
          `${kind}, ${namespaced ? "namespaced" : "cluster"}, ${singularName}`,
          [...verbs].sort().join(" "),
          shortNames.join(" "),
          categories.join(" "),
        ].join("; "),
      ],
    ),
  ),
});
const keys = (body: Body) => Object.keys(body).sort();

const discovery: readonly Exchange[] = [
  { name: "version", path: "/version", part: keys },
  { name: "readyz", path: "/readyz" },
  { name: "livez", path: "/livez" },
  { name: "healthz", path: "/healthz" },
  { name: "readyz of etcd", path: "/readyz/etcd" },
  { name: "readyz of nonsense", path: "/readyz/nonsense" },
  { name: "core versions", path: "/api" },
  { name: "core resources", path: "/api/v1", part: resources },
  ...groups.map((group): Exchange => ({ name: `resources of ${group}`, path: `/apis/${group}`, part: resources })),
  { name: "one group", path: "/apis/apps" },
  {
    name: "groups",
    path: "/apis",
    part: ({ kind, groups: all }) => ({
      kind,
      groups: (all as readonly { name: string; versions: readonly { version: string }[] }[])
        .map(({ name, versions }) => `${name}: ${versions.map(({ version }) => version).join(" ")}`)
        .sort(),
    }),
  },
  { name: "groups, aggregated v2", path: "/apis", accept: aggregated("v2"), part: ({ kind }) => kind },
  { name: "core, aggregated v2beta1", path: "/api", accept: aggregated("v2beta1"), part: ({ kind }) => kind },
  { name: "unknown group", path: "/apis/nonsense/v1" },
  { name: "unknown version of a group", path: "/apis/apps/v9" },
  {
    name: "OpenAPI v3, index",
    path: "/openapi/v3",
    // The document comes as text.
    part: (body) => keys(JSON.parse(String(body)) as Body),
  },
  {
    name: "OpenAPI v3, apps/v1",
    path: "/openapi/v3/apis/apps/v1",
    part: (body) => {
      const paths = body.paths as Record<string, { readonly patch?: { readonly parameters?: readonly Named[] } }>;
      const patch = paths["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]?.patch;
      return { keys: keys(body), parameters: patch?.parameters?.map(({ name }) => name).sort() };
    },
  },
  { name: "OpenAPI v3, unknown", path: "/openapi/v3/apis/nonsense/v1" },
  {
    name: "OpenAPI v2",
    path: "/openapi/v2",
    accept: "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
    part: () => "protobuf",
  },
  { name: "unknown path", path: "/nonsense" },
  { name: "unknown path below a group", path: "/apis/nonsense/v1/things" },
  { name: "unknown resource", path: "/api/v1/namespaces/default/nonsense" },
  { name: "unknown resource of a group", path: "/apis/apps/v1/nonsense" },
  { name: "root", path: "/", part: keys },
  { name: "metrics", path: "/metrics", part: () => "text" },
  { name: "without credentials", path: "/api/v1/nodes", anonymous: true },
  { name: "health without credentials", path: "/readyz", anonymous: true },
];
interface Named {
  readonly name: string;
}

const reviews: readonly Exchange[] = [
  {
    name: "may I",
    method: "POST",
    path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
    body: {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectAccessReview",
      spec: { resourceAttributes: { verb: "create", resource: "pods", namespace: "default" } },
    },
    part: ({ kind, apiVersion, spec, status }) => ({ kind, apiVersion, spec, allowed: status?.allowed }),
  },
  {
    name: "who am I",
    method: "POST",
    path: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
    body: { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
    part: ({ kind, apiVersion, status }) => ({ kind, apiVersion, keys: Object.keys(status ?? {}) }),
  },
  {
    name: "what may I",
    method: "POST",
    path: "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
    body: {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectRulesReview",
      spec: { namespace: "default" },
    },
    part: ({ kind, apiVersion, status }) => ({ kind, apiVersion, keys: Object.keys(status ?? {}).sort() }),
  },
];

const tables: readonly Exchange[] = [...tabled, ...tabledOfGroups].map((path) => ({
  name: `table of ${path.split("/").at(-1)}`,
  path: `${path}?limit=500`,
  accept: table,
  part: columns,
}));

export const discoveryScenes: readonly Scene[] = [
  { name: "discovery", exchanges: () => discovery },
  { name: "reviews", exchanges: () => reviews },
  { name: "tables", exchanges: () => tables },
];
