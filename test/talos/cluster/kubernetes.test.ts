// SPDX-License-Identifier: Apache-2.0
import { createServer, type Server } from "node:https";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemEntropy } from "../../../talos/clock.ts";
import type { Kubernetes } from "../../../talos/cluster/index.ts";
import { kubernetesOver } from "../../../talos/cluster/kubernetes/index.ts";
import { createCertificateAuthority, issueCertificate, type LeafOptions } from "../../../talos/pki/index.ts";
import { VirtualTiming } from "./virtual-timing.ts";

const day = 86_400_000;
const clock = { now: () => new Date(Date.now() - day) };
const ca = createCertificateAuthority({
  organization: "kubernetes",
  kind: "ecdsa-p256",
  clock,
  entropy: systemEntropy,
});
const issue = (options: Pick<LeafOptions, "subject" | "usages" | "ipAddresses">) =>
  issueCertificate(
    ca,
    { ...options, notBefore: clock.now(), notAfter: new Date(Date.now() + day) },
    { entropy: systemEntropy },
  );
const serverPair = issue({
  subject: { commonName: "kube-apiserver" },
  usages: ["serverAuth"],
  ipAddresses: ["127.0.0.1"],
});
const clientPair = issue({
  subject: { commonName: "admin", organizations: ["system:masters"] },
  usages: ["clientAuth"],
});

interface Call {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly type: string | undefined;
}

let calls: Call[];
let answer: (call: Call) => readonly [number, unknown];
let server: Server;
let url: string;
let kubernetes: Kubernetes & { close(): void };
const timing = new VirtualTiming();

beforeEach(async () => {
  calls = [];
  answer = () => [404, { message: "not found" }];
  const tls = {
    ca: ca.certificate,
    cert: serverPair.certificate,
    key: serverPair.key,
    requestCert: true,
    rejectUnauthorized: true,
  };
  server = createServer(tls, (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const text = Buffer.concat(chunks).toString();
      const call: Call = {
        method: request.method ?? "",
        path: decodeURIComponent(request.url ?? ""),
        body: text === "" ? undefined : JSON.parse(text),
        type: request.headers["content-type"],
      };
      calls.push(call);
      const [status, body] = answer(call);
      response.writeHead(status).end(typeof body === "string" ? body : JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  url = `https://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
  kubernetes = kubernetesOver(
    { servers: ["https://127.0.0.1:1", url], ca: ca.certificate, ...clientPair },
    url,
    timing,
  );
});
afterEach(async () => {
  kubernetes.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

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

describe("the view of Kubernetes", () => {
  test("comes from the first server that answers", async () => {
    const containers = [{ name: "kube-proxy", image: "registry.k8s.io/kube-proxy:v1.36.2" }];
    answer = ({ path }) =>
      path === "/api/v1/nodes"
        ? [200, { items: [node("cp-1"), node("w-1", { spec: { unschedulable: true } })] }]
        : [200, { spec: { template: { spec: { containers } } } }];
    expect(await kubernetes.observe()).toEqual({
      kind: "reachable",
      proxyVersion: "1.36.2",
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

  test("of one node asks for no other, and tells when it has not registered", async () => {
    answer = ({ path }) => (path === "/api/v1/nodes/w-1" ? [200, node("w-1")] : [404, {}]);
    expect(await kubernetes.observeNode("w-1")).toMatchObject({
      kind: "reachable",
      node: { name: "w-1", ready: true },
    });
    expect(await kubernetes.observeNode("w-2")).toEqual({ kind: "reachable", node: undefined });
    expect(calls.map(({ path }) => path)).toEqual(["/api/v1/nodes/w-1", "/api/v1/nodes/w-2"]);
  });

  test("is unreachable, with the reason, when none answers", async () => {
    answer = () => [503, { message: "etcd is not ready" }];
    expect(await kubernetes.observeNode("w-1")).toEqual({
      kind: "unreachable",
      reason: expect.stringContaining("503 etcd is not ready"),
    });
    expect(await kubernetes.observe()).toEqual({
      kind: "unreachable",
      reason: expect.stringContaining("503 etcd is not ready"),
    });
    expect(await kubernetes.endpointObstacle()).toEqual({
      reason: expect.stringContaining("503"),
      certificate: false,
    });
    answer = () => [200, "ok"];
    expect(await kubernetes.endpointObstacle()).toBeUndefined();
  });

  test("reads the version of a component from its pod's image", async () => {
    const conditions = [{ type: "Ready", status: "True" }];
    answer = ({ path }) =>
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
    expect(await kubernetes.component("kube-apiserver", "cp-1")).toEqual({ version: "1.36.3", ready: true });
    expect(await kubernetes.component("kube-apiserver", "cp-2")).toBeUndefined();
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
    answer = ({ method, path }) => {
      if (path === "/api/v1/nodes/w-1") return [200, node("w-1")];
      if (path.startsWith("/api/v1/pods?")) return [200, { items: pods }];
      return method === "POST" ? [201, {}] : [404, {}];
    };
    expect(await kubernetes.drain("w-1", "evict")).toBe("1 pod is on the way out");
    const changes = calls.filter(({ method }) => method !== "GET");
    expect(changes).toMatchObject([
      {
        method: "PATCH",
        type: "application/merge-patch+json",
        body: { metadata: { annotations: { "talosmith.internal/cordoned": "true" } }, spec: { unschedulable: true } },
      },
      { method: "POST", path: "/api/v1/namespaces/default/pods/web/eviction", body: { kind: "Eviction" } },
    ]);
    expect(calls.find(({ path }) => path.includes("fieldSelector"))?.path).toContain("spec.nodeName=w-1");
  });

  test("names the pod that a disruption budget keeps", async () => {
    answer = ({ method, path }) => {
      if (path === "/api/v1/nodes/w-1") return [200, node("w-1", { spec: { unschedulable: true } })];
      if (path.startsWith("/api/v1/pods?")) return [200, { items: pods }];
      return method === "POST" ? [429, { message: "Cannot evict pod" }] : [404, {}];
    };
    expect(await kubernetes.drain("w-1", "evict")).toBe("a disruption budget keeps pod default/web");
    // Someone else's cordon stays theirs.
    expect(calls.some(({ method }) => method === "PATCH")).toBe(false);
  });

  test("is done when nothing is left, and for a node that is not there", async () => {
    answer = ({ path }) => (path === "/api/v1/nodes/w-1" ? [200, node("w-1")] : [200, { items: pods.slice(1) }]);
    expect(await kubernetes.drain("w-1", "evict")).toBeUndefined();
    answer = () => [404, {}];
    expect(await kubernetes.drain("w-2", "evict")).toBeUndefined();
  });

  test("is taken back only where the mark is ours", async () => {
    answer = () => [200, node("w-1", { spec: { unschedulable: true } })];
    await kubernetes.uncordon("w-1");
    expect(calls.map(({ method }) => method)).toEqual(["GET"]);
    const metadata = { name: "w-1", annotations: { "talosmith.internal/cordoned": "true" } };
    answer = () => [200, node("w-1", { metadata, spec: { unschedulable: true } })];
    await kubernetes.uncordon("w-1");
    expect(calls.at(-1)).toMatchObject({
      method: "PATCH",
      body: { metadata: { annotations: { "talosmith.internal/cordoned": null } }, spec: { unschedulable: null } },
    });
  });
});

describe("the lease", () => {
  const us = { place: "here/boot/0", run: "1" };
  const lease = (holderIdentity: string, renewTime: Date) => ({
    metadata: { resourceVersion: "7" },
    spec: { holderIdentity, renewTime: renewTime.toISOString() },
  });

  test("is made when there is none", async () => {
    answer = ({ method }) => (method === "POST" ? [201, {}] : [404, {}]);
    expect(await kubernetes.takeLease(us)).toBeUndefined();
    expect(calls.at(-1)).toMatchObject({
      method: "POST",
      body: { metadata: { name: "talosmith", namespace: "kube-system" }, spec: { holderIdentity: "here/boot/0/1" } },
    });
  });

  test.each([
    ["ours", "here/boot/0/1", 0, undefined],
    ["one of a run that died here", "here/boot/0/0", 0, undefined],
    ["another's that nobody renews any more", "there/boot/0/9", 61_000, undefined],
    ["another's that died with its clock ahead", "there/boot/0/9", -3_600_000, undefined],
    ["another's", "there/boot/0/9", 1000, "there/boot/0/9"],
    ["another's whose clock is a little ahead", "there/boot/0/9", -5000, "there/boot/0/9"],
  ])("that is %s is told apart", async (_name, holder, age, expected) => {
    answer = ({ method }) => (method === "GET" ? [200, lease(holder, new Date(timing.now() - age))] : [200, {}]);
    expect(await kubernetes.takeLease(us)).toBe(expected);
    const put = calls.find(({ method }) => method === "PUT");
    expect(put === undefined).toBe(expected !== undefined);
    if (put !== undefined) expect(put.body).toMatchObject({ metadata: { resourceVersion: "7" } });
  });

  test("that seems to have run out is watched aloud, so that nobody wonders what is waited for", async () => {
    answer = ({ method }) =>
      method === "GET" ? [200, lease("there/boot/0/9", new Date(timing.now() - 180_000))] : [200, {}];
    const told: string[] = [];
    expect(await kubernetes.takeLease(us, undefined, (message) => told.push(message))).toBeUndefined();
    expect(told[0]).toBe(
      "another run, there/boot/0/9, has not said for 3 min that it works on this cluster: it is watched for 45 s more before this run goes on",
    );
    expect(told.at(-1)).toContain("for 5 s more");
    expect(told).toHaveLength(9);
  });

  test.each([3_600_000, -3_600_000])("of a run that lives is not taken when clocks differ by %i ms", async (skew) => {
    let renewed = 0;
    let looks = 0;
    answer = ({ method }) => {
      if (method !== "GET") return [200, {}];
      // Whoever has it renews it every twenty seconds, by a clock of its own.
      renewed = 1 + Math.floor((looks++ * 5000) / 20_000);
      const { metadata, ...found } = lease("there/boot/0/9", new Date(timing.now() - skew));
      return [200, { ...found, metadata: { ...metadata, resourceVersion: String(renewed) } }];
    };
    expect(await kubernetes.takeLease(us)).toBe("there/boot/0/9");
    expect(calls.some(({ method }) => method === "PUT")).toBe(false);
  });

  test("goes to whoever is faster", async () => {
    answer = ({ method }) =>
      method === "GET" ? [200, lease("", new Date())] : [409, { message: "the object has been modified" }];
    expect(await kubernetes.takeLease(us)).toBe("runs that were faster three times");
  });

  test("is given back only when it is still ours", async () => {
    answer = () => [200, lease("there/boot/0/9", new Date())];
    await kubernetes.releaseLease(us);
    expect(calls.some(({ method }) => method === "DELETE")).toBe(false);
    answer = () => [200, lease("here/boot/0/1", new Date())];
    await kubernetes.releaseLease(us);
    expect(calls.at(-1)?.method).toBe("DELETE");
  });
});

describe("APIs that a coming Kubernetes does not serve", () => {
  const metric = (resource: string, version: string, removed: string, count = 1) =>
    `apiserver_requested_deprecated_apis{group="example",removed_release="${removed}",resource="${resource}",subresource="",version="${version}"} ${count}`;

  test("are those that clients have asked for, and those that still have objects", async () => {
    answer = ({ path }) => {
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
    expect(await kubernetes.apisGoneWith("1.33.1")).toEqual([
      { name: "foos.v1beta1.example", removedIn: "1.32" },
      { name: "podschedulingcontexts.v1alpha3.resource.k8s.io", removedIn: "1.32", objects: 2 },
    ]);
    expect(await kubernetes.apisGoneWith("1.31.0")).toEqual([]);
  });
});

describe("bringing the cluster's own objects to their manifests", () => {
  const inventoryPath = "/api/v1/namespaces/kube-system/configmaps/talos-bootstrap-manifests-inventory";
  const proxyPath = "/apis/apps/v1/namespaces/kube-system/daemonsets/kube-proxy";
  const oldPath = "/api/v1/namespaces/kube-system/serviceaccounts/flannel";
  const proxy = (image: string, annotations = {}) => ({
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name: "kube-proxy", namespace: "kube-system", annotations },
    spec: { image },
  });
  const owned = { "config.k8s.io/owning-inventory": "talos-bootstrap-manifests-inventory" };
  let live: ReturnType<typeof proxy> | undefined;
  const serve = (call: Call): readonly [number, unknown] => {
    const [path] = call.path.split("?");
    if (path === "/apis/apps/v1")
      return [200, { resources: [{ name: "daemonsets", kind: "DaemonSet", namespaced: true }] }];
    if (path === "/api/v1") {
      return [200, { resources: [{ name: "serviceaccounts", kind: "ServiceAccount", namespaced: true }] }];
    }
    if (path === inventoryPath && call.method === "GET") {
      return [
        200,
        { data: { "kube-system_kube-proxy_apps_DaemonSet": "", "kube-system_flannel__ServiceAccount": "" } },
      ];
    }
    if (path === oldPath)
      return [200, { kind: "ServiceAccount", metadata: { name: "flannel", namespace: "kube-system" } }];
    if (path === proxyPath && call.method === "GET") return live === undefined ? [404, {}] : [200, live];
    return [200, call.body ?? {}];
  };
  const changes = () => calls.filter(({ method, path }) => method !== "GET" && !path.includes("dryRun"));

  test("applies what differs under Talos's name, and deletes what its inventory has too much", async () => {
    live = proxy("old", owned);
    answer = serve;
    expect(await kubernetes.syncManifests([proxy("new")], { inventory: true })).toEqual([
      { action: "configured", subject: "DaemonSet/kube-system/kube-proxy" },
      { action: "deleted", subject: "ServiceAccount/kube-system/flannel" },
    ]);
    expect(changes()).toMatchObject([
      {
        method: "PATCH",
        type: "application/apply-patch+yaml",
        path: `${proxyPath}?fieldManager=talos&force=true`,
        body: { metadata: { annotations: owned }, spec: { image: "new" } },
      },
      { method: "DELETE", path: `${oldPath}?propagationPolicy=Background` },
      { method: "PUT", path: inventoryPath, body: { data: { "kube-system_kube-proxy_apps_DaemonSet": "" } } },
    ]);
  });

  test("leaves alone what is as it should be, and refuses what belongs to others", async () => {
    live = proxy("new", owned);
    answer = (call) =>
      call.path === inventoryPath ? [200, { data: { "kube-system_kube-proxy_apps_DaemonSet": "" } }] : serve(call);
    expect(await kubernetes.syncManifests([proxy("new")], { inventory: true })).toEqual([]);
    expect(changes()).toEqual([]);
    live = proxy("old", { "config.k8s.io/owning-inventory": "flux" });
    await expect(kubernetes.syncManifests([proxy("new")], { inventory: true })).rejects.toThrow(
      "DaemonSet/kube-system/kube-proxy belongs to the inventory flux",
    );
  });

  test("replaces whole objects where there is no inventory yet, and makes missing ones", async () => {
    live = proxy("old");
    answer = serve;
    expect(await kubernetes.syncManifests([proxy("new")], { inventory: false })).toEqual([
      { action: "configured", subject: "DaemonSet/kube-system/kube-proxy" },
    ]);
    live = undefined;
    expect(await kubernetes.syncManifests([proxy("new")], { inventory: false })).toEqual([
      { action: "created", subject: "DaemonSet/kube-system/kube-proxy" },
    ]);
    expect(changes().map(({ method, path }) => `${method} ${path}`)).toEqual([
      `PUT ${proxyPath}`,
      "POST /apis/apps/v1/namespaces/kube-system/daemonsets",
    ]);
  });
});
