// SPDX-License-Identifier: Apache-2.0
// Pods and what makes, moves and counts them.
import type { Body, Exchange, Scene } from "./exchange.ts";
import { container, deployment, map, merge, pod, strategic, template } from "./objects-of-scenes.ts";

const running = ({ body }: { readonly body: Body }) => body.status?.phase === "Running";
const kindOf = ({ kind }: Body) => kind;

const evictions = (namespace: string): readonly Exchange[] => {
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  const budgets = `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`;
  const selector = { matchLabels: { app: "web" } };
  const by = (operator: string, values?: readonly string[]) => ({
    matchExpressions: [{ key: "app", operator, ...(values && { values }) }],
  });
  const eviction = (name: string, more: object = {}) => ({
    apiVersion: "policy/v1",
    kind: "Eviction",
    metadata: { name },
    ...more,
  });
  const cases: readonly (readonly [name: string, specs: readonly object[]])[] = [
    ["without a budget", []],
    ["under minAvailable: 1", [{ minAvailable: 1, selector }]],
    ["under minAvailable: 0", [{ minAvailable: 0, selector }]],
    ["under maxUnavailable: 1, which no controller counts", [{ maxUnavailable: 1, selector }]],
    ["under maxUnavailable: 0", [{ maxUnavailable: 0, selector }]],
    ["under a share", [{ minAvailable: "10%", selector }]],
    ["under two budgets", [0, 1].map(() => ({ minAvailable: 0, selector }))],
    ["under a budget for others by label", [{ minAvailable: 1, selector: { matchLabels: { app: "other" } } }]],
    ["under a budget by In", [{ minAvailable: 1, selector: by("In", ["web"]) }]],
    ["under a budget for others by In", [{ minAvailable: 1, selector: by("In", ["other"]) }]],
    ["under a budget for others by NotIn", [{ minAvailable: 1, selector: by("NotIn", ["web"]) }]],
    ["under a budget by Exists", [{ minAvailable: 1, selector: by("Exists") }]],
    ["under a budget for others by DoesNotExist", [{ minAvailable: 1, selector: by("DoesNotExist") }]],
    ["under a budget with an empty selector", [{ minAvailable: 1, selector: {} }]],
    ["under a budget without a selector", [{ minAvailable: 1 }]],
  ];
  const labels = { app: "web" };
  const ofCase = ([name, specs]: (typeof cases)[number], index: number): readonly Exchange[] => {
    const guarded = `guarded-${index}`;
    const made = specs.map((_, number) => `${guarded}-${number}`);
    return [
      { name: `pod ${name}`, method: "POST", path: pods, body: pod(guarded, labels), part: kindOf },
      { name: `running ${name}`, path: `${pods}/${guarded}`, until: running, part: kindOf },
      ...made.flatMap((budget, number): Exchange[] => [
        {
          name: `budget ${number + 1} ${name}`,
          method: "POST",
          path: budgets,
          body: {
            apiVersion: "policy/v1",
            kind: "PodDisruptionBudget",
            metadata: { name: budget },
            spec: specs[number],
          },
          part: kindOf,
        },
        {
          name: `counted ${number + 1} ${name}`,
          path: `${budgets}/${budget}`,
          until: ({ body }) => body.status?.observedGeneration === 1,
          part: kindOf,
        },
      ]),
      { name: `evict ${name}`, method: "POST", path: `${pods}/${guarded}/eviction`, body: eviction(guarded) },
      ...made.map(
        (budget): Exchange => ({
          name: `delete ${budget}`,
          method: "DELETE",
          path: `${budgets}/${budget}`,
          part: kindOf,
        }),
      ),
      {
        name: `delete the pod ${name}`,
        method: "DELETE",
        path: `${pods}/${guarded}`,
        body: { gracePeriodSeconds: 0 },
        until: ({ code }) => code === 404,
      },
    ];
  };
  return [
    ...cases.flatMap(ofCase),
    { name: "evict a missing pod", method: "POST", path: `${pods}/missing/eviction`, body: eviction("missing") },
    { name: "pod to evict", method: "POST", path: pods, body: pod("last", labels), part: kindOf },
    { name: "evict, dry run", method: "POST", path: `${pods}/last/eviction?dryRun=All`, body: eviction("last") },
    { name: "still there", path: `${pods}/last`, part: ({ metadata }) => metadata.deletionTimestamp ?? "not deleted" },
    { name: "evict under another name", method: "POST", path: `${pods}/last/eviction`, body: eviction("other") },
    { name: "evict with another kind", method: "POST", path: `${pods}/last/eviction`, body: map("last") },
    {
      name: "evict another pod of that name",
      method: "POST",
      path: `${pods}/last/eviction`,
      body: eviction("last", { deleteOptions: { preconditions: { uid: "00000000-0000-0000-0000-000000000000" } } }),
    },
    { name: "get an eviction", path: `${pods}/last/eviction` },
    {
      name: "budget with both counts",
      brief: true,
      method: "POST",
      path: budgets,
      body: {
        apiVersion: "policy/v1",
        kind: "PodDisruptionBudget",
        metadata: { name: "both" },
        spec: { minAvailable: 1, maxUnavailable: 1, selector },
      },
    },
  ];
};

const pods = (namespace: string): readonly Exchange[] => {
  const all = `/api/v1/namespaces/${namespace}/pods`;
  const create = (name: string, body: unknown, more: Partial<Exchange> = {}): Exchange => ({
    name,
    method: "POST",
    path: all,
    body,
    ...more,
  });
  // Names of their own: where one is taken all the same, the next request is still about itself.
  let count = 0;
  const wrong = (spec: object) => pod(`wrong-${++count}`, {}, spec);
  const containers = (...list: object[]) => wrong({ containers: list });
  return [
    create("without an image", containers({ name: "web" })),
    create("without containers", containers()),
    create("without a name of the container", containers({ image: "a:b" })),
    create("with two containers of one name", containers(container, container)),
    create("with a bad name", pod("Bad_Name")),
    create("with a bad name of the container", containers({ name: "Web", image: "a:b" })),
    create("with a bad restart policy", wrong({ restartPolicy: "Sometimes" })),
    create("with a mount of no volume", containers({ ...container, volumeMounts: [{ name: "a", mountPath: "/a" }] })),
    create("with an unknown field, strict", containers({ ...container, foo: 1 }), {
      path: `${all}?fieldValidation=Strict`,
    }),
    create("with a wrong type of a field", wrong({ hostNetwork: "yes" }), { brief: true }),
    create("with a missing service account", wrong({ serviceAccountName: "missing" })),
    create("create", pod("web", { app: "web" }), {
      part: ({ kind, spec, status }) => ({ kind, spec: Object.keys(spec as object).sort(), status }),
    }),
    { name: "running", path: `${all}/web`, until: running, part: ({ status }) => Object.keys(status ?? {}).sort() },
    {
      name: "by phase",
      path: `${all}?fieldSelector=status.phase%3DRunning`,
      part: ({ items }) => (items as Body[]).length,
    },
    {
      name: "change the image",
      method: "PATCH",
      path: `${all}/web`,
      type: strategic,
      body: { spec: { containers: [{ name: "web", image: "registry.k8s.io/pause:3.10" }] } },
      part: kindOf,
    },
    {
      name: "change the node",
      method: "PATCH",
      path: `${all}/web`,
      type: merge,
      body: { spec: { nodeName: "elsewhere" } },
      brief: true,
    },
    {
      name: "add a container",
      method: "PATCH",
      path: `${all}/web`,
      type: strategic,
      body: { spec: { containers: [{ name: "more", image: "a:b" }] } },
      brief: true,
    },
    { name: "log", path: `${all}/web/log?tailLines=1`, part: () => "text" },
    { name: "log of no container", path: `${all}/web/log?container=missing` },
    { name: "log of a missing pod", path: `${all}/missing/log` },
    { name: "status", path: `${all}/web/status`, part: kindOf },
    { name: "delete", method: "DELETE", path: `${all}/web`, body: { gracePeriodSeconds: 0 }, part: kindOf },
    { name: "gone", path: `${all}/web`, until: ({ code }) => code === 404 },
  ];
};

const workloads = (namespace: string): readonly Exchange[] => {
  const all = `/apis/apps/v1/namespaces/${namespace}/deployments`;
  const labels = { app: "web" };
  const good = { replicas: 1, selector: { matchLabels: labels }, template: template(labels) };
  let count = 0;
  const create = (name: string, spec: object): Exchange => ({
    name,
    method: "POST",
    path: all,
    body: deployment(`web-${++count}`, spec),
  });
  const scale = `${all}/web/scale`;
  const autoscaling = (replicas: number) => ({
    apiVersion: "autoscaling/v1",
    kind: "Scale",
    metadata: { name: "web", namespace },
    spec: { replicas },
  });
  return [
    create("without a selector", { template: template(labels) }),
    create("with a selector of others", { ...good, selector: { matchLabels: { app: "other" } } }),
    create("without a template", { selector: { matchLabels: labels } }),
    create("with a container without an image", {
      ...good,
      template: { metadata: { labels }, spec: { containers: [{ name: "web" }] } },
    }),
    create("with negative replicas", { ...good, replicas: -1 }),
    {
      ...create("create", good),
      body: deployment("web", good),
      part: ({ spec, metadata }) => ({ spec, metadata: Object.keys(metadata).sort(), generation: metadata.generation }),
    },
    {
      name: "change the selector",
      method: "PATCH",
      path: `${all}/web`,
      type: merge,
      body: { spec: { selector: { matchLabels: { more: "x" } } } },
      brief: true,
    },
    {
      name: "available",
      path: `${all}/web`,
      until: ({ body }) => body.status?.availableReplicas === 1,
      part: ({ status }) => Object.keys(status ?? {}).sort(),
    },
    { name: "scale", path: scale },
    {
      name: "scale to two",
      method: "PUT",
      path: scale,
      body: autoscaling(2),
      part: ({ kind, spec }) => ({ kind, spec }),
    },
    {
      name: "scale by patch",
      method: "PATCH",
      path: scale,
      type: merge,
      body: { spec: { replicas: 0 } },
      part: ({ kind, spec }) => ({ kind, spec }),
    },
    { name: "scale below zero", method: "PATCH", path: scale, type: merge, body: { spec: { replicas: -1 } } },
    { name: "generation after a change", path: `${all}/web`, part: ({ metadata }) => metadata.generation },
    {
      name: "restart",
      method: "PATCH",
      path: `${all}/web`,
      type: strategic,
      body: { spec: { template: { metadata: { annotations: { at: "now" } } } } },
      part: ({ metadata }) => metadata.generation,
    },
    {
      name: "delete in the foreground",
      method: "DELETE",
      path: `${all}/web`,
      body: { propagationPolicy: "Foreground" },
      part: kindOf,
    },
    { name: "gone", path: `${all}/web`, until: ({ code }) => code === 404 },
    {
      name: "delete in the background",
      method: "DELETE",
      path: `${all}/web`,
      body: { propagationPolicy: "Background" },
    },
    { name: "delete with a bad policy", method: "DELETE", path: `${all}/web`, body: { propagationPolicy: "Nonsense" } },
    {
      name: "daemon set without a selector",
      method: "POST",
      path: `/apis/apps/v1/namespaces/${namespace}/daemonsets`,
      body: {
        apiVersion: "apps/v1",
        kind: "DaemonSet",
        metadata: { name: "web" },
        spec: { template: template(labels) },
      },
      brief: true,
    },
    {
      name: "job without a restart policy",
      method: "POST",
      path: `/apis/batch/v1/namespaces/${namespace}/jobs`,
      body: { apiVersion: "batch/v1", kind: "Job", metadata: { name: "once" }, spec: { template: template(labels) } },
      brief: true,
    },
  ];
};

export const workloadScenes: readonly Scene[] = [
  { name: "evictions", exchanges: evictions },
  { name: "pods", exchanges: pods },
  { name: "workloads", exchanges: workloads },
];
