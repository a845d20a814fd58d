// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { kubernetesServer } from "./kubernetes-server.ts";

const api = kubernetesServer();

const node = (name: string, more: object = {}) => ({
  metadata: { name, labels: { "node-role.kubernetes.io/control-plane": "" } },
  spec: {},
  status: {
    addresses: [{ type: "InternalIP", address: "10.0.0.1" }],
    conditions: [{ type: "Ready", status: "True" }],
    nodeInfo: { kubeletVersion: "v1.36.3" },
  },
  ...more,
});
const pod = (name: string, metadata: object = {}, phase = "Running") => ({
  metadata: { name, namespace: "default", ...metadata },
  spec: { containers: [{ name: "c", image: "x" }] },
  status: { phase },
});

describe("a workload of kube-system", () => {
  const id = (node: string) => `containerd://on-${node}`;
  const podOn = (node: string, owner: object, more: { ready?: boolean; deletionTimestamp?: string } = {}) => {
    const { ready = true, deletionTimestamp } = more;
    const metadata = { namespace: "kube-system", ownerReferences: [owner], deletionTimestamp };
    return {
      ...pod(`on-${node}`, metadata),
      spec: { nodeName: node, containers: [{ name: "c", image: "x" }] },
      status: {
        phase: "Running",
        conditions: [{ type: "Ready", status: ready ? "True" : "False" }],
        containerStatuses: [{ containerID: id(node), state: {} }],
      },
    };
  };
  const proxy = { kind: "DaemonSet", name: "kube-proxy" };
  const dns = { kind: "ReplicaSet", name: "coredns-5d78c9869d" };

  test("is counted by its pods: its own numbers may be of before a restore", async () => {
    const items = [
      podOn("cp-1", proxy),
      podOn("w-1", proxy, { ready: false }),
      podOn("w-2", proxy, { deletionTimestamp: "2026-11-18T10:00:00Z" }),
      podOn("w-3", { kind: "DaemonSet", name: "other" }),
    ];
    const status = { desiredNumberScheduled: 3, updatedNumberScheduled: 3, numberReady: 3 };
    const spec = { selector: { matchLabels: { "k8s-app": "kube-proxy" } } };
    api.answer = ({ path }) => [200, path.includes("/pods?") ? { items } : { spec, status }];
    expect(await api.kubernetes.workload("daemonsets", "kube-proxy")).toEqual({ wanted: 3, updated: 3, ready: 1 });
    expect(api.calls.at(-1)?.path).toBe("/api/v1/namespaces/kube-system/pods?labelSelector=k8s-app=kube-proxy");
  });

  test("has no pod that is ready by Kubernetes and does not run on its machine", async () => {
    const items = [podOn("w-1", dns), podOn("w-2", dns), podOn("w-3", { kind: "ReplicaSet", name: "other-1" })];
    const status = { updatedReplicas: 2, readyReplicas: 2 };
    const spec = { replicas: 2, selector: { matchLabels: { "k8s-app": "kube-dns" } } };
    api.answer = ({ path }) => [200, path.includes("/pods?") ? { items } : { spec, status }];
    const asked: (readonly [string, readonly string[]])[] = [];
    const runs = (on: string, containers: readonly string[]) => {
      asked.push([on, containers]);
      return on === "w-1";
    };
    expect(await api.kubernetes.workload("deployments", "coredns", { runs })).toEqual({
      wanted: 2,
      updated: 2,
      ready: 1,
    });
    expect(asked).toEqual([
      ["w-1", ["on-w-1"]],
      ["w-2", ["on-w-2"]],
    ]);
  });
});

describe("the view of Kubernetes", () => {
  test("comes from the first server that answers", async () => {
    const containers = [{ name: "kube-proxy", image: "registry.k8s.io/kube-proxy:v1.36.2" }];
    api.answer = ({ path }) =>
      path === "/api/v1/nodes"
        ? [200, { items: [node("cp-1"), node("w-1", { spec: { unschedulable: true } })] }]
        : [200, { spec: { template: { spec: { containers } } } }];
    expect(await api.kubernetes.observe()).toEqual({
      kind: "reachable",
      proxyVersion: "1.36.2",
      components: [],
      nodes: [
        {
          name: "cp-1",
          ready: true,
          unschedulable: false,
          cordonedByUs: false,
          controlPlane: true,
          addresses: ["10.0.0.1"],
          kubeletVersion: "v1.36.3",
        },
        {
          name: "w-1",
          ready: true,
          unschedulable: true,
          cordonedByUs: false,
          controlPlane: true,
          addresses: ["10.0.0.1"],
          kubeletVersion: "v1.36.3",
        },
      ],
    });
  });

  test.each(["example.org/kube-proxy:v1.36", "example.org/kube-proxy:vendor", "example.org/kube-proxy@sha256:0"])(
    "tells no version of a kube-proxy whose image names none: %s",
    async (image) => {
      const containers = [{ name: "kube-proxy", image }];
      api.answer = ({ path }) =>
        path === "/api/v1/nodes" ? [200, { items: [] }] : [200, { spec: { template: { spec: { containers } } } }];
      expect(await api.kubernetes.observe()).toEqual({ kind: "reachable", nodes: [], components: [] });
    },
  );

  test("of one node asks for no other, and tells when it has not registered", async () => {
    api.answer = ({ path }) => (path === "/api/v1/nodes/w-1" ? [200, node("w-1")] : [404, {}]);
    expect(await api.kubernetes.observeNode("w-1")).toMatchObject({
      kind: "reachable",
      node: { name: "w-1", ready: true },
    });
    expect(await api.kubernetes.observeNode("w-2")).toEqual({ kind: "reachable", node: undefined });
    expect(api.calls.map(({ path }) => path)).toEqual(["/api/v1/nodes/w-1", "/api/v1/nodes/w-2"]);
  });

  test("is told in plain text, whatever names and messages hold", async () => {
    const evil = "\u001b[2J\u202eevil\u009b1m\r";
    api.answer = ({ path }) =>
      path === "/api/v1/nodes"
        ? [200, { items: [node(evil, { metadata: { name: evil, labels: {} } })] }]
        : path.includes("/pods?")
          ? [200, { items: [] }]
          : [404, {}];
    expect(await api.kubernetes.observe()).toMatchObject({ nodes: [{ name: "<U+202E>evil^M" }] });
    for (const body of [{ message: evil }, evil]) {
      api.answer = () => [422, body];
      const refused = api.kubernetes.component("kube-scheduler", "cp-1");
      await expect(refused).rejects.toThrow("422 <U+202E>evil^M");
    }
  });

  test("is unreachable, with the reason, when none answers", async () => {
    api.answer = () => [503, { message: "etcd is not ready" }];
    expect(await api.kubernetes.observeNode("w-1")).toEqual({
      kind: "unreachable",
      reason: expect.stringContaining("503 etcd is not ready"),
    });
    expect(await api.kubernetes.observe()).toEqual({
      kind: "unreachable",
      reason: expect.stringContaining("503 etcd is not ready"),
    });
    expect(await api.kubernetes.endpointObstacle()).toEqual({
      reason: expect.stringContaining("503"),
      certificate: false,
    });
    api.answer = () => [200, "ok"];
    expect(await api.kubernetes.endpointObstacle()).toBeUndefined();
  });

  test("reads the version of a component from its pod's image", async () => {
    const conditions = [{ type: "Ready", status: "True" }];
    api.answer = ({ path }) =>
      path.endsWith("/kube-apiserver-cp-1")
        ? [
            200,
            {
              ...pod("kube-apiserver-cp-1"),
              spec: {
                containers: [{ name: "kube-apiserver", image: "mirror:5000/k/kube-apiserver:v1.36.3@sha256:00" }],
              },
              status: { phase: "Running", conditions },
            },
          ]
        : [404, {}];
    expect(await api.kubernetes.component("kube-apiserver", "cp-1")).toMatchObject({ version: "1.36.3", ready: true });
    expect(await api.kubernetes.component("kube-apiserver", "cp-2")).toBeUndefined();
  });

  test("has the components of all control planes by one call, with the kubelet's words for those that wait", async () => {
    const image = "registry.k8s.io/kube-scheduler:v1.36.3";
    const waiting = { reason: "ImagePullBackOff", message: `Back-off pulling image "${image}"` };
    const scheduler = {
      ...pod("kube-scheduler-cp-1"),
      spec: { nodeName: "cp-1", containers: [{ name: "kube-scheduler", image }] },
      status: { phase: "Pending", conditions: [], containerStatuses: [{ state: { waiting } }] },
    };
    const other = { ...pod("etcd-cp-1"), spec: { nodeName: "cp-1", containers: [] } };
    api.answer = ({ path }) => {
      if (path === "/api/v1/nodes") return [200, { items: [] }];
      return /pods\?labelSelector=tier(=|%3D)control-plane$/.test(path)
        ? [200, { items: [scheduler, other] }]
        : [404, {}];
    };
    const reason = `ImagePullBackOff: Back-off pulling image "${image}"`;
    const component = { component: "kube-scheduler", node: "cp-1", version: "1.36.3", ready: false, reason };
    expect(await api.kubernetes.observe()).toEqual({ kind: "reachable", nodes: [], components: [component] });
  });
});

describe("draining a node", () => {
  const pods = [
    pod("web"),
    pod("kube-proxy", { ownerReferences: [{ kind: "DaemonSet", controller: true }] }),
    pod("kube-apiserver", { annotations: { "kubernetes.io/config.mirror": "x" } }),
    pod("done", {}, "Succeeded"),
  ];

  test("cordons it with our mark and evicts what an eviction can move", async () => {
    api.answer = ({ method, path }) => {
      if (path === "/api/v1/nodes/w-1") return [200, node("w-1")];
      if (path.startsWith("/api/v1/pods?")) return [200, { items: pods }];
      return method === "POST" ? [201, {}] : [404, {}];
    };
    expect(await api.kubernetes.drain("w-1", "evict")).toBe("waiting for 1 pod to terminate");
    const changes = api.calls.filter(({ method }) => method !== "GET");
    expect(changes).toMatchObject([
      {
        method: "PATCH",
        type: "application/merge-patch+json",
        body: { metadata: { annotations: { "talosmith.internal/cordoned": "true" } }, spec: { unschedulable: true } },
      },
      { method: "POST", path: "/api/v1/namespaces/default/pods/web/eviction", body: { kind: "Eviction" } },
    ]);
    expect(api.calls.find(({ path }) => path.includes("fieldSelector"))?.path).toContain("spec.nodeName=w-1");
  });

  test("names the pod that a disruption budget keeps", async () => {
    api.answer = ({ method, path }) => {
      if (path === "/api/v1/nodes/w-1") return [200, node("w-1", { spec: { unschedulable: true } })];
      if (path.startsWith("/api/v1/pods?")) return [200, { items: pods }];
      return method === "POST" ? [429, { message: "Cannot evict pod" }] : [404, {}];
    };
    expect(await api.kubernetes.drain("w-1", "evict")).toBe("a disruption budget keeps pod default/web");
    // Someone else's cordon stays theirs.
    expect(api.calls.some(({ method }) => method === "PATCH")).toBe(false);
  });

  test("names a pod with several disruption budgets, which Kubernetes answers with an error that stays", async () => {
    const message = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
    api.answer = ({ path }) =>
      path.endsWith("/eviction")
        ? [500, { kind: "Status", reason: "InternalError", message, code: 500 }]
        : path.startsWith("/api/v1/nodes/")
          ? [200, node("w-1")]
          : [200, { items: [pod("web")] }];
    await expect(api.kubernetes.drain("w-1", "evict")).rejects.toMatchObject({
      code: "failed-precondition",
      retryable: false,
      message: "pod default/web has more than one disruption budget, and Kubernetes evicts no such pod",
    });
  });

  test.each([
    [500, "etcdserver: request timed out", true],
    [
      500,
      "failed to create typed patch object (default/web; apps/v1, Kind=Deployment): .spec.x: field not declared in schema",
      false,
    ],
    [503, "apiserver is shutting down", true],
    [415, "the body of the request was in an unknown format", false],
    [413, "request is too large", false],
    [405, "the server does not allow this method", false],
  ])("an answer %i (%s) is worth another try: %s", async (code, message, retryable) => {
    api.answer = () => [code, { kind: "Status", message, code }];
    await expect(api.kubernetes.deleteNode("w-1")).rejects.toMatchObject({ retryable });
  });

  test("waits for a pod whose namespace is being deleted, which no eviction may touch, as kubectl does", async () => {
    const refusal = (reason: string) => ({ message: `pods "web" is forbidden: ${reason}` });
    let reason = "unable to create new content in namespace default because it is being terminated";
    api.answer = ({ method, path }) => {
      if (path === "/api/v1/nodes/w-1") return [200, node("w-1")];
      if (path.startsWith("/api/v1/pods?")) return [200, { items: pods }];
      return method === "POST" ? [403, refusal(reason)] : [200, {}];
    };
    expect(await api.kubernetes.drain("w-1", "evict")).toBe("pod default/web goes with its namespace");
    reason = 'User "reader" cannot create resource "pods/eviction"';
    await expect(api.kubernetes.drain("w-1", "evict")).rejects.toMatchObject({ code: "permission-denied" });
  });

  test("is done when nothing is left, and for a node that is not there", async () => {
    api.answer = ({ path }) => (path === "/api/v1/nodes/w-1" ? [200, node("w-1")] : [200, { items: pods.slice(1) }]);
    expect(await api.kubernetes.drain("w-1", "evict")).toBeUndefined();
    api.answer = () => [404, {}];
    expect(await api.kubernetes.drain("w-2", "evict")).toBeUndefined();
  });

  test("is taken back only where the mark is ours", async () => {
    api.answer = () => [200, node("w-1", { spec: { unschedulable: true } })];
    await api.kubernetes.uncordon("w-1");
    expect(api.calls.map(({ method }) => method)).toEqual(["GET"]);
    const metadata = { name: "w-1", annotations: { "talosmith.internal/cordoned": "true" } };
    api.answer = () => [200, node("w-1", { metadata, spec: { unschedulable: true } })];
    await api.kubernetes.uncordon("w-1");
    expect(api.calls.at(-1)).toMatchObject({
      method: "PATCH",
      body: { metadata: { annotations: { "talosmith.internal/cordoned": null } }, spec: { unschedulable: null } },
    });
  });
});

describe("APIs that a coming Kubernetes does not serve", () => {
  const metric = (resource: string, version: string, removed: string, count = 1) =>
    `apiserver_requested_deprecated_apis{group="example",removed_release="${removed}",resource="${resource}",subresource="",version="${version}"} ${count}`;

  test("are those that clients have asked for, and those that still have objects", async () => {
    api.answer = ({ path }) => {
      if (path === "/metrics") {
        return [
          200,
          [
            "# HELP x",
            metric("foos", "v1beta1", "1.32"),
            metric("bars", "v1beta1", "1.40"),
            metric("old", "v1", "1.30", 0),
          ].join("\n"),
        ];
      }
      return path.endsWith("/podschedulingcontexts") ? [200, { items: [{}, {}] }] : [404, {}];
    };
    expect(await api.kubernetes.apisGoneWith("1.33.1")).toEqual([
      { name: "foos.v1beta1.example", removedIn: "1.32" },
      { name: "podschedulingcontexts.v1alpha3.resource.k8s.io", removedIn: "1.32", objects: 2 },
    ]);
    expect(await api.kubernetes.apisGoneWith("1.31.0")).toEqual([]);
  });
});
