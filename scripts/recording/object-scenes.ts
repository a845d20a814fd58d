// SPDX-License-Identifier: Apache-2.0
// Reads, writes, lists and watches of plain objects.
import type { Body, Exchange, Scene } from "./exchange.ts";
import { apply, jsonPatch, lease, map, merge, strategic, table } from "./objects-of-scenes.ts";

const listShape = ({ kind, apiVersion, metadata, items }: Body) => ({
  kind,
  apiVersion,
  metadata: Object.keys(metadata).sort(),
  items: (items as readonly Body[]).map((item) => Object.keys(item).sort().join(" ")),
});
const names = ({ items }: Body) => (items as readonly Body[]).map(({ metadata }) => metadata.name);
const events = (body: unknown) =>
  (body as readonly { type: string; object: Body }[]).map(({ type, object }) => ({
    type,
    kind: object.kind,
    apiVersion: object.apiVersion,
    name: object.metadata?.name,
    annotations: object.metadata?.annotations,
    code: object.code,
    reason: object.reason,
  }));

const writes = (namespace: string): readonly Exchange[] => {
  const maps = `/api/v1/namespaces/${namespace}/configmaps`;
  const create = (name: string, body: unknown, more: Partial<Exchange> = {}): Exchange => ({
    name,
    method: "POST",
    path: maps,
    body,
    ...more,
  });
  const one = `${maps}/one`;
  return [
    create("create", map("one", { data: { a: "1" } })),
    create("create again", map("one")),
    create("create, dry run", map("dry"), { path: `${maps}?dryRun=All` }),
    create("create, unknown dry run", map("dry"), { path: `${maps}?dryRun=Some` }),
    create("create without a name", { apiVersion: "v1", kind: "ConfigMap", metadata: {} }),
    create(
      "create with a generated name",
      { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "many-" } },
      { part: ({ metadata }) => String(metadata.name).replace(/.{5}$/, "?????") },
    ),
    create("create a bad name", map("Bad_Name")),
    create("create a bad label", map("labelled", { metadata: { name: "labelled", labels: { a: "b c" } } })),
    create("create another kind", { apiVersion: "v1", kind: "Secret", metadata: { name: "other" } }),
    create(
      "create another version",
      { apiVersion: "v2", kind: "ConfigMap", metadata: { name: "other" } },
      { brief: true },
    ),
    create("create without a kind", { metadata: { name: "kindless" } }),
    create("create in another namespace", map("moved", { metadata: { name: "moved", namespace: "default" } })),
    create("create in no namespace", map("lost"), { path: "/api/v1/configmaps" }),
    create("create in an unknown namespace", map("lost"), { path: "/api/v1/namespaces/nonsense/configmaps" }),
    create("create from text", "not json", { type: "text/plain" }),
    create("create from bad JSON", "{", { brief: true }),
    create("create from nothing", "", { brief: true }),
    create("create from YAML", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: yaml}\n", {
      type: "application/yaml",
      part: ({ kind, metadata }) => ({ kind, name: metadata.name }),
    }),
    create("create with a wrong type of a field", map("typed", { data: { a: 1 } }), {
      brief: true,
    }),
    create("unknown field, strict, name taken", map("one", { nonsense: 1 }), {
      path: `${maps}?fieldValidation=Strict`,
    }),
    create("unknown field, warn", map("warned", { nonsense: 1 }), {
      path: `${maps}?fieldValidation=Warn`,
      part: (body) => Object.keys(body).sort(),
    }),
    create("unknown field, ignore", map("ignored", { nonsense: 1 }), {
      path: `${maps}?fieldValidation=Ignore`,
      part: (body) => Object.keys(body).sort(),
    }),
    create("unknown field validation", map("validated"), { path: `${maps}?fieldValidation=Nonsense` }),
    { name: "get", path: one },
    { name: "get a missing one", path: `${maps}/missing` },
    { name: "get in an unknown namespace", path: "/api/v1/namespaces/nonsense/configmaps/one" },
    {
      name: "get as table",
      path: one,
      accept: table,
      part: ({ kind, apiVersion, rows }) => ({ kind, apiVersion, rows: (rows as unknown[]).length }),
    },
    {
      name: "get as metadata",
      path: one,
      accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
      part: ({ kind, apiVersion, data }) => ({ kind, apiVersion, data }),
    },
    { name: "get as text", path: one, accept: "text/plain" },
    { name: "replace", method: "PUT", path: one, body: map("one", { data: { a: "2" } }), part: ({ data }) => data },
    {
      name: "replace what has changed",
      method: "PUT",
      path: one,
      bodyOf: (earlier) =>
        map("one", { metadata: { name: "one", resourceVersion: earlier("create").metadata.resourceVersion } }),
    },
    {
      name: "replace another object of that name",
      brief: true,
      method: "PUT",
      path: one,
      body: map("one", { metadata: { name: "one", uid: "00000000-0000-0000-0000-000000000000" } }),
    },
    { name: "replace under another name", method: "PUT", path: one, body: map("two") },
    { name: "replace a missing one", method: "PUT", path: `${maps}/missing`, body: map("missing") },
    {
      name: "merge patch",
      method: "PATCH",
      path: one,
      type: merge,
      body: { data: { b: "3", a: null } },
      part: ({ data }) => data,
    },
    {
      name: "strategic patch",
      method: "PATCH",
      path: one,
      type: strategic,
      body: { data: { c: "4" } },
      part: ({ data }) => data,
    },
    {
      name: "JSON patch",
      method: "PATCH",
      path: one,
      type: jsonPatch,
      body: [{ op: "add", path: "/data/d", value: "5" }],
      part: ({ data }) => data,
    },
    {
      name: "JSON patch whose test fails",
      method: "PATCH",
      path: one,
      type: jsonPatch,
      body: [{ op: "test", path: "/data/d", value: "6" }],
    },
    {
      name: "JSON patch of nothing",
      method: "PATCH",
      path: one,
      type: jsonPatch,
      body: [{ op: "remove", path: "/data/z" }],
    },
    {
      name: "JSON patch that is none",
      method: "PATCH",
      path: one,
      type: jsonPatch,
      body: {},
      brief: true,
    },
    { name: "patch as text", method: "PATCH", path: one, type: "text/plain", body: "{}" },
    { name: "patch as JSON", method: "PATCH", path: one, type: "application/json", body: {} },
    { name: "patch a missing one", method: "PATCH", path: `${maps}/missing`, type: merge, body: {} },
    {
      name: "patch with a wrong revision",
      method: "PATCH",
      path: one,
      type: merge,
      bodyOf: (earlier) => ({ metadata: { resourceVersion: earlier("create").metadata.resourceVersion } }),
    },
    { name: "patch of the name", method: "PATCH", path: one, type: merge, body: { metadata: { name: "two" } } },
    { name: "post to an object", method: "POST", path: one, body: map("one") },
    { name: "put to a list", method: "PUT", path: maps, body: map("one") },
    { name: "unknown subresource", path: `${one}/nonsense` },
    { name: "status of a kind without one", path: `${one}/status` },
    {
      name: "delete under another uid",
      method: "DELETE",
      path: one,
      body: { preconditions: { uid: "00000000-0000-0000-0000-000000000000" } },
    },
    { name: "delete, dry run", method: "DELETE", path: `${one}?dryRun=All` },
    { name: "delete", method: "DELETE", path: one },
    { name: "delete again", method: "DELETE", path: one },
    { name: "delete a collection", method: "DELETE", path: maps, part: ({ kind, status }) => ({ kind, status }) },
    {
      name: "create with a finalizer",
      method: "POST",
      path: maps,
      body: map("held", { metadata: { name: "held", finalizers: ["example.com/hold"] } }),
      part: ({ metadata }) => metadata.finalizers,
    },
    {
      name: "delete what is held",
      method: "DELETE",
      path: `${maps}/held`,
      part: ({ kind, metadata }) => ({ kind, metadata: Object.keys(metadata).sort() }),
    },
    {
      name: "release it",
      method: "PATCH",
      path: `${maps}/held`,
      type: merge,
      body: { metadata: { finalizers: null } },
      part: ({ kind, metadata }) => ({ kind, metadata: Object.keys(metadata).sort() }),
    },
    { name: "get what was released", path: `${maps}/held` },
    create("create an immutable one", map("fixed", { data: { a: "1" }, immutable: true }), {
      part: ({ immutable }) => immutable,
    }),
    {
      name: "change an immutable one",
      method: "PATCH",
      path: `${maps}/fixed`,
      type: merge,
      body: { data: { a: "2" } },
    },
  ];
};

const lists = (namespace: string): readonly Exchange[] => {
  const maps = `/api/v1/namespaces/${namespace}/configmaps`;
  const secrets = `/api/v1/namespaces/${namespace}/secrets`;
  const labelled = (name: string, labels: object) => map(name, { metadata: { name, labels } });
  const list = (name: string, query: string): Exchange => ({ name, path: `${maps}?${query}`, part: names });
  const failing = (name: string, query: string, more: Partial<Exchange> = {}): Exchange => ({
    name,
    path: `${maps}?${query}`,
    ...more,
  });
  const release = (revision: number) => ({
    apiVersion: "v1",
    kind: "Secret",
    type: "helm.sh/release.v1",
    metadata: {
      name: `sh.helm.release.v1.app.v${revision}`,
      labels: { owner: "helm", name: "app", status: "deployed" },
    },
    data: { release: "YQ==" },
  });
  return [
    { name: "empty list", path: `${secrets}`, part: listShape },
    ...["a", "b", "c"].map(
      (name): Exchange => ({
        name: `make ${name}`,
        method: "POST",
        path: maps,
        body: labelled(name, { app: name, tier: "web" }),
        part: ({ kind }) => kind,
      }),
    ),
    { name: "list", path: `${maps}?labelSelector=tier`, part: listShape },
    list("equal", "labelSelector=app%3Da"),
    list("double equal", "labelSelector=app%3D%3Da"),
    list("not equal", "labelSelector=tier%3Dweb,app!%3Da"),
    list("in", "labelSelector=app+in+(a,b)"),
    list("not in", "labelSelector=tier,app+notin+(a,b)"),
    list("does not exist", "labelSelector=!app,tier"),
    failing("bad label selector", "labelSelector=a+b+c", { brief: true }),
    failing("bad label value", "labelSelector=a%3Db*c", { brief: true }),
    list("by name", "fieldSelector=metadata.name%3Da"),
    list("by name that is not", "labelSelector=tier&fieldSelector=metadata.name!%3Da"),
    failing("unknown field", "fieldSelector=spec.nonsense%3Da"),
    failing("bad field selector", "fieldSelector=nonsense"),
    {
      name: "a page",
      path: `${maps}?labelSelector=tier&limit=2`,
      part: (body) => ({ ...listShape(body), count: names(body).length }),
    },
    {
      name: "the next page",
      path: (earlier) =>
        `${maps}?labelSelector=tier&limit=2&continue=${encodeURIComponent(earlier("a page").metadata.continue ?? "")}`,
      part: (body) => ({ names: names(body), metadata: Object.keys(body.metadata).sort() }),
    },
    failing("bad continue", "continue=nonsense", { brief: true }),
    failing("bad limit", "limit=nonsense"),
    list("from the cache", "labelSelector=tier&resourceVersion=0"),
    failing("bad revision", "resourceVersion=nonsense"),
    {
      name: "a revision to come",
      path: `${maps}?resourceVersion=999999999&resourceVersionMatch=Exact`,
      brief: true,
    },
    failing("bad match", "resourceVersionMatch=Nonsense&resourceVersion=1"),
    { name: "pods by node", path: "/api/v1/pods?fieldSelector=spec.nodeName%3Dnonsense", part: names },
    { name: "pods by unknown field", path: "/api/v1/pods?fieldSelector=spec.nonsense%3Da" },
    {
      name: "nodes by unschedulable",
      path: "/api/v1/nodes?fieldSelector=spec.unschedulable%3Dtrue,metadata.name%3Dnonsense",
      part: names,
    },
    { name: "events by object", path: "/api/v1/events?fieldSelector=involvedObject.name%3Dnonsense", part: names },
    { name: "deployments by unknown field", path: "/apis/apps/v1/deployments?fieldSelector=status.phase%3Da" },
    ...[1, 2].map(
      (revision): Exchange => ({
        name: `helm release ${revision}`,
        method: "POST",
        path: secrets,
        body: release(revision),
      }),
    ),
    { name: "helm releases", path: `${secrets}?labelSelector=name%3Dapp,owner%3Dhelm,status%3Ddeployed`, part: names },
    { name: "secrets by type", path: `${secrets}?fieldSelector=type%3Dhelm.sh/release.v1`, part: names },
    {
      name: "change the type of a secret",
      method: "PATCH",
      path: `${secrets}/sh.helm.release.v1.app.v1`,
      type: merge,
      body: { type: "Opaque" },
    },
    {
      name: "secret of strings",
      method: "POST",
      path: secrets,
      body: { apiVersion: "v1", kind: "Secret", metadata: { name: "strings" }, stringData: { a: "b" } },
    },
    {
      name: "secret of no base64",
      method: "POST",
      path: secrets,
      body: { apiVersion: "v1", kind: "Secret", metadata: { name: "plain" }, data: { a: "no base64!" } },
      brief: true,
    },
  ];
};

const watches = (namespace: string): readonly (Exchange | readonly Exchange[])[] => {
  const maps = `/api/v1/namespaces/${namespace}/configmaps`;
  const watch = (name: string, query: string): Exchange => ({
    name,
    path: `${maps}?watch=true&timeoutSeconds=1&fieldSelector=metadata.name%3Da${query}`,
    stream: true,
    part: events,
  });
  const initial = "&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan";
  return [
    { name: "make a", method: "POST", path: maps, body: map("a") },
    {
      name: "change a",
      method: "PATCH",
      path: `${maps}/a`,
      type: merge,
      body: { data: { a: "1" } },
      part: ({ data }) => data,
    },
    [
      watch("from now", ""),
      watch("from 0", "&resourceVersion=0"),
      watch("with initial events", initial),
      {
        name: "since a revision",
        path: (earlier) =>
          `${maps}?watch=1&timeoutSeconds=1&resourceVersion=${earlier("make a").metadata.resourceVersion}&fieldSelector=metadata.name%3Da`,
        stream: true,
        part: events,
      },
      {
        name: "initial events without bookmarks",
        path: `${maps}?watch=true&timeoutSeconds=1&sendInitialEvents=true`,
        stream: true,
      },
      {
        name: "from a bad revision",
        path: `${maps}?watch=true&timeoutSeconds=1&resourceVersion=nonsense`,
        stream: true,
      },
      {
        name: "as table",
        path: `${maps}?watch=true&timeoutSeconds=1&fieldSelector=metadata.name%3Da`,
        accept: table,
        stream: true,
        part: (body) =>
          (body as unknown as readonly { type: string; object: Body }[]).map(
            ({ type, object }) => `${type} ${object.kind}`,
          ),
      },
    ],
  ];
};

const applies = (namespace: string): readonly Exchange[] => {
  const maps = `/api/v1/namespaces/${namespace}/configmaps`;
  const by = (name: string, manager: string, body: object, more = ""): Exchange => ({
    name,
    method: "PATCH",
    path: `${maps}/applied?fieldManager=${manager}${more}`,
    type: apply,
    body,
  });
  const deployments = `/apis/apps/v1/namespaces/${namespace}/deployments`;
  return [
    { ...by("without a manager", "", map("applied")), path: `${maps}/applied` },
    by("create", "first", map("applied", { data: { a: "1" } })),
    by("apply the same", "first", map("applied", { data: { a: "1" } })),
    by("conflict", "second", map("applied", { data: { a: "2" } })),
    by("share", "second", map("applied", { data: { a: "1" } })),
    by("force", "second", map("applied", { data: { a: "3" } }), "&force=true"),
    by("give up", "second", map("applied", { data: {} })),
    by("dry run", "first", map("applied", { data: { a: "9" } }), "&dryRun=All"),
    by("another name", "first", map("other")),
    by("unknown field", "first", map("applied", { nonsense: true })),
    by("with managed fields", "first", map("applied", { metadata: { name: "applied", managedFields: [] } })),
    {
      name: "unknown field of a deployment",
      method: "PATCH",
      path: `${deployments}/web?fieldManager=me`,
      type: apply,
      body: { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web" }, spec: { nonsense: true } },
    },
    {
      name: "bad YAML",
      method: "PATCH",
      path: `${maps}/applied?fieldManager=me`,
      type: apply,
      body: "{",
      brief: true,
    },
    { name: "force with a merge patch", method: "PATCH", path: `${maps}/applied?force=true`, type: merge, body: {} },
  ];
};

const leases = (namespace: string): readonly Exchange[] => {
  const all = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
  const held = `${all}/held`;
  const time = "2026-11-16T00:00:00.000000Z";
  return [
    { name: "create", method: "POST", path: all, body: lease("held", time) },
    { name: "without microseconds", method: "POST", path: all, body: lease("plain", "2026-11-16T00:00:00Z") },
    { name: "replace unseen", method: "PUT", path: held, body: lease("held", time) },
    {
      name: "replace",
      method: "PUT",
      path: held,
      bodyOf: (earlier) => ({
        ...lease("held", "2026-11-16T00:00:01.000000Z"),
        metadata: { name: "held", resourceVersion: earlier("create").metadata.resourceVersion },
      }),
    },
    {
      name: "replace what has changed",
      method: "PUT",
      path: held,
      bodyOf: (earlier) => ({
        ...lease("held", "2026-11-16T00:00:02.000000Z"),
        metadata: { name: "held", resourceVersion: earlier("create").metadata.resourceVersion },
      }),
    },
    {
      name: "of no duration",
      method: "POST",
      path: all,
      body: { ...lease("short", time), spec: { leaseDurationSeconds: 0 } },
    },
    { name: "list", path: all, part: listShape },
    { name: "delete", method: "DELETE", path: held },
  ];
};

export const objectScenes: readonly Scene[] = [
  { name: "writes", exchanges: writes },
  { name: "lists", exchanges: lists },
  { name: "watches", exchanges: watches },
  { name: "applies", exchanges: applies },
  { name: "leases", exchanges: leases },
];
