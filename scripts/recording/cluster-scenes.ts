// SPDX-License-Identifier: Apache-2.0
// Namespaces, nodes, definitions of resources and what else is of the whole cluster.
import type { Body, Exchange, Scene } from "./exchange.ts";
import { jsonPatch, merge, strategic } from "./objects-of-scenes.ts";

const kindOf = ({ kind }: Body) => kind;

const cluster = (namespace: string): readonly Exchange[] => {
  const own = `${namespace}-more`;
  const definition = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "things.recorded.example.com" },
    spec: {
      group: "recorded.example.com",
      scope: "Namespaced",
      names: { plural: "things", kind: "Thing" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", properties: { size: { type: "integer" } } } },
          additionalPrinterColumns: [{ name: "Size", type: "integer", jsonPath: ".size" }],
        },
      ],
    },
  };
  const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const things = `/apis/recorded.example.com/v1/namespaces/${namespace}/things`;
  const thing = (name: string, more: object = {}) => ({
    apiVersion: "recorded.example.com/v1",
    kind: "Thing",
    metadata: { name },
    ...more,
  });
  const services = `/api/v1/namespaces/${namespace}/services`;
  const service = (name: string, spec: object) => ({ apiVersion: "v1", kind: "Service", metadata: { name }, spec });
  const port = { ports: [{ port: 80 }] };
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  return [
    { name: "a missing node", path: "/api/v1/nodes/missing" },
    {
      name: "cordon a missing node",
      method: "PATCH",
      path: "/api/v1/nodes/missing",
      type: strategic,
      body: { spec: { unschedulable: true } },
    },
    { name: "delete a missing node", method: "DELETE", path: "/api/v1/nodes/missing" },
    {
      name: "nodes",
      path: "/api/v1/nodes",
      part: ({ kind, apiVersion, items }) => ({
        kind,
        apiVersion,
        items: Object.keys((items as object[])[0] ?? {}).sort(),
      }),
    },
    {
      name: "make a namespace",
      method: "POST",
      path: "/api/v1/namespaces",
      body: { apiVersion: "v1", kind: "Namespace", metadata: { name: own } },
    },
    {
      name: "make it again",
      method: "POST",
      path: "/api/v1/namespaces",
      body: { apiVersion: "v1", kind: "Namespace", metadata: { name: own } },
    },
    {
      name: "a bad name of a namespace",
      method: "POST",
      path: "/api/v1/namespaces",
      body: { apiVersion: "v1", kind: "Namespace", metadata: { name: "a.b" } },
    },
    {
      name: "its account",
      path: `/api/v1/namespaces/${own}/serviceaccounts/default`,
      until: ({ code }) => code === 200,
      part: kindOf,
    },
    {
      name: "its CA",
      path: `/api/v1/namespaces/${own}/configmaps/kube-root-ca.crt`,
      until: ({ code }) => code === 200,
      part: ({ data }) => Object.keys(data as object),
    },
    {
      name: "delete it",
      method: "DELETE",
      path: `/api/v1/namespaces/${own}`,
      part: ({ kind, spec, status }) => ({ kind, spec, status }),
    },
    { name: "it is gone", path: `/api/v1/namespaces/${own}`, until: ({ code }) => code === 404 },
    { name: "delete kube-system", method: "DELETE", path: "/api/v1/namespaces/kube-system?dryRun=All" },
    { name: "service", method: "POST", path: services, body: service("web", { ...port, selector: { app: "web" } }) },
    { name: "service without ports", method: "POST", path: services, body: service("none", {}) },
    { name: "service with a bad name", method: "POST", path: services, body: service("1web", port) },
    {
      name: "service with a bad node port",
      method: "POST",
      path: services,
      body: service("low", { type: "NodePort", ports: [{ port: 80, nodePort: 80 }] }),
      brief: true,
    },
    {
      name: "headless service",
      method: "POST",
      path: services,
      body: service("headless", { ...port, clusterIP: "None" }),
      part: ({ spec }) => (spec as { clusterIPs?: unknown }).clusterIPs,
    },
    { name: "delete a service", method: "DELETE", path: `${services}/web`, part: kindOf },
    {
      name: "token of an account",
      method: "POST",
      path: `${accounts}/default/token`,
      body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds: 600 } },
      part: ({ kind, status }) => ({ kind, status: Object.keys(status ?? {}).sort() }),
    },
    {
      name: "event",
      method: "POST",
      path: `/api/v1/namespaces/${namespace}/events`,
      body: {
        apiVersion: "v1",
        kind: "Event",
        metadata: { name: "seen" },
        involvedObject: { kind: "Pod", name: "web", namespace },
        reason: "Seen",
        message: "it",
        type: "Normal",
      },
    },
    {
      name: "events of it",
      path: `/api/v1/namespaces/${namespace}/events?fieldSelector=involvedObject.name%3Dweb,involvedObject.kind%3DPod`,
      part: ({ items }) => (items as { reason: string }[]).map(({ reason }) => reason),
    },
    { name: "unknown custom resource", path: things },
    {
      name: "define one",
      method: "POST",
      path: definitions,
      body: definition,
      part: ({ kind, spec }) => ({ kind, spec }),
    },
    {
      name: "it is established",
      path: `${definitions}/things.recorded.example.com`,
      until: ({ body }) => JSON.stringify(body.status?.conditions ?? "").includes('"InitialNamesAccepted"'),
      part: ({ status }) => ({ acceptedNames: status?.acceptedNames, storedVersions: status?.storedVersions }),
    },
    {
      name: "make one",
      method: "POST",
      path: things,
      body: thing("one", { size: 1 }),
      until: ({ code }) => code !== 404,
    },
    { name: "make one with a wrong type", method: "POST", path: things, body: thing("two", { size: "large" }) },
    {
      name: "make one with an unknown field, strict",
      method: "POST",
      path: `${things}?fieldValidation=Strict`,
      body: thing("three", { colour: "red" }),
    },
    {
      name: "make one with an unknown field",
      method: "POST",
      path: things,
      body: thing("four", { colour: "red" }),
      part: (body) => Object.keys(body).sort(),
    },
    {
      name: "things",
      path: things,
      part: ({ kind, apiVersion, items }) => ({
        kind,
        apiVersion,
        items: (items as object[]).map((item) => Object.keys(item).sort().join(" ")),
      }),
    },
    {
      name: "patch one",
      method: "PATCH",
      path: `${things}/one`,
      type: merge,
      body: { size: 2 },
      part: ({ size, metadata }) => ({ size, generation: metadata.generation }),
    },
    { name: "strategic patch of one", method: "PATCH", path: `${things}/one`, type: strategic, body: { size: 3 } },
    {
      name: "JSON patch of one",
      method: "PATCH",
      path: `${things}/one`,
      type: jsonPatch,
      body: [{ op: "replace", path: "/size", value: 4 }],
      part: ({ size }) => size,
    },
    { name: "delete one", method: "DELETE", path: `${things}/one`, part: kindOf },
    {
      name: "delete the definition",
      method: "DELETE",
      path: `${definitions}/things.recorded.example.com`,
      part: kindOf,
    },
    {
      name: "define a bad one",
      method: "POST",
      path: definitions,
      body: { ...definition, metadata: { name: "wrong.recorded.example.com" } },
      brief: true,
    },
  ];
};

export const clusterScenes: readonly Scene[] = [{ name: "cluster", exchanges: cluster }];
