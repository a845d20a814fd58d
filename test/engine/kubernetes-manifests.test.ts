// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { type Call, kubernetesServer } from "./kubernetes-server.ts";

const api = kubernetesServer();

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
  const stored = (data: Readonly<Record<string, string>>) => ({ metadata: { resourceVersion: "1" }, data });
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
      return [200, stored({ "kube-system_kube-proxy_apps_DaemonSet": "", "kube-system_flannel__ServiceAccount": "" })];
    }
    if (path === oldPath)
      return [200, { kind: "ServiceAccount", metadata: { name: "flannel", namespace: "kube-system" } }];
    if (path === proxyPath && call.method === "GET") return live === undefined ? [404, {}] : [200, live];
    return [200, call.body ?? {}];
  };
  const changes = () => api.calls.filter(({ method, path }) => method !== "GET" && !path.includes("dryRun"));

  test("applies what differs under Talos's name, and deletes what its inventory has too much", async () => {
    live = proxy("old", owned);
    api.answer = serve;
    expect(await api.kubernetes.syncManifests([proxy("new")], { inventory: true })).toEqual([
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

  test("leaves alone what is healthy and up to date, and refuses what belongs to others", async () => {
    live = proxy("new", owned);
    api.answer = (call) =>
      call.path === inventoryPath ? [200, stored({ "kube-system_kube-proxy_apps_DaemonSet": "" })] : serve(call);
    expect(await api.kubernetes.syncManifests([proxy("new")], { inventory: true })).toEqual([]);
    expect(changes()).toEqual([]);
    live = proxy("old", { "config.k8s.io/owning-inventory": "flux" });
    await expect(api.kubernetes.syncManifests([proxy("new")], { inventory: true })).rejects.toThrow(
      "DaemonSet/kube-system/kube-proxy belongs to the inventory flux",
    );
  });

  test("replaces whole objects where there is no inventory yet, and makes missing ones", async () => {
    live = proxy("old");
    api.answer = serve;
    expect(await api.kubernetes.syncManifests([proxy("new")], { inventory: false })).toEqual([
      { action: "configured", subject: "DaemonSet/kube-system/kube-proxy" },
    ]);
    live = undefined;
    expect(await api.kubernetes.syncManifests([proxy("new")], { inventory: false })).toEqual([
      { action: "created", subject: "DaemonSet/kube-system/kube-proxy" },
    ]);
    expect(changes().map(({ method, path }) => `${method} ${path}`)).toEqual([
      `PUT ${proxyPath}`,
      "POST /apis/apps/v1/namespaces/kube-system/daemonsets",
    ]);
  });
});
