// SPDX-License-Identifier: Apache-2.0
import { request } from "node:https";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Machine } from "../../simulator/index.ts";
import { type Answer, type Body, type CallOptions, eventually, KubernetesClient } from "./kubernetes-client.ts";
import { collect, Laboratory } from "./laboratory.ts";

let lab: Laboratory;
let machines: Machine[];
let client: KubernetesClient;

beforeAll(async () => {
  lab = await Laboratory.open("kubernetes");
  machines = await lab.cluster(1, 2);
  client = await KubernetesClient.open(lab, machines[0]?.address ?? "");
});
afterAll(() => lab.close());

function call(method: string, path: string, body?: unknown, options?: CallOptions): Promise<Answer<Body>> {
  return client.call(method, path, body, options);
}

const podOn = async (node: string): Promise<string[]> => {
  const { body } = await call("GET", `/api/v1/pods?fieldSelector=spec.nodeName=${node}&labelSelector=app%3Dspread`);
  return body.items.map((pod) => pod.metadata.name);
};

describe("the Kubernetes API", () => {
  it("knows nobody without a certificate", async () => {
    expect(await call("GET", "/api/v1/nodes", undefined, { anonymous: true })).toMatchObject({
      code: 401,
      body: { reason: "Unauthorized" },
    });
  });

  it("tells what it offers and which version it is", async () => {
    expect((await call("GET", "/version")).body.gitVersion).toBe("v1.36.3");
    expect((await call("GET", "/apis")).body.groups.map((group) => group.name)).toContain("policy");
    const { body } = await call("GET", "/api/v1");
    expect(body.resources).toContainEqual(expect.objectContaining({ name: "nodes", shortNames: ["no"], kind: "Node" }));
    expect((await call("GET", "/apis/example.com/v1")).code).toBe(404);
  });

  it("prints nodes as the table that kubectl shows", async () => {
    const { body } = await call("GET", "/api/v1/nodes", undefined, {
      accept: "application/json;as=Table;v=v1;g=meta.k8s.io",
    });
    expect(body.columnDefinitions.slice(0, 5).map((column) => column.name)).toEqual([
      "Name",
      "Status",
      "Roles",
      "Age",
      "Version",
    ]);
    expect(body.rows.map((row) => row.cells.filter((_, index) => index !== 3).slice(0, 4))).toEqual([
      ["cp-1", "Ready", "control-plane", "v1.36.3"],
      ["w-1", "Ready", "<none>", "v1.36.3"],
      ["w-2", "Ready", "<none>", "v1.36.3"],
    ]);
  });

  it("runs the pods that Talos brings", async () => {
    await eventually(async () => {
      const { body } = await call("GET", "/api/v1/namespaces/kube-system/pods");
      const phases = body.items.map((pod) => pod.status.phase);
      return phases.length === 3 + 3 + 3 + 2 && phases.every((phase) => phase === "Running");
    });
    const { body } = await call("GET", "/apis/apps/v1/namespaces/kube-system/daemonsets/kube-proxy");
    expect(body.status).toMatchObject({ desiredNumberScheduled: 3 });
  });

  it("cordons, evicts under a disruption budget, and brings the pod up elsewhere", async () => {
    const merge = { type: "application/merge-patch+json" };
    const labels = { app: "spread" };
    const template = { metadata: { labels }, spec: { containers: [{ name: "web", image: "example.com/web:v1" }] } };
    await call("POST", "/apis/apps/v1/namespaces/default/deployments", {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "spread" },
      spec: { replicas: 2, selector: { matchLabels: labels }, template },
    });
    const deployed = "/apis/apps/v1/namespaces/default/deployments/spread";
    await eventually(async () => (await call("GET", deployed)).body.status?.readyReplicas === 2);
    await call("PATCH", "/api/v1/nodes/w-1", { spec: { unschedulable: true } }, merge);
    const budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
    const selector = { matchLabels: labels };
    const budget = {
      apiVersion: "policy/v1",
      kind: "PodDisruptionBudget",
      metadata: { name: "dns" },
      spec: { minAvailable: 2, selector },
    };
    expect((await call("POST", budgets, budget)).code).toBe(201);
    expect((await call("POST", budgets, budget)).body).toMatchObject({ code: 409, reason: "AlreadyExists" });
    const [pod] = await podOn("w-1");
    const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: pod } };
    const evict = (): Promise<Answer<Body>> =>
      call("POST", `/api/v1/namespaces/default/pods/${pod}/eviction`, eviction);
    expect(await evict()).toMatchObject({ code: 429, body: { reason: "TooManyRequests" } });
    await call("PATCH", `${budgets}/dns`, { spec: { minAvailable: 1 } }, merge);
    expect((await evict()).code).toBe(201);
    await eventually(async () => (await podOn("w-1")).length === 0 && (await podOn("w-2")).length === 2);
    await call(
      "PATCH",
      "/api/v1/nodes/w-1",
      { spec: { unschedulable: null } },
      { type: "application/strategic-merge-patch+json" },
    );
    expect((await call("GET", "/api/v1/nodes/w-1")).body.spec.unschedulable).toBeUndefined();
  });

  it("keeps a lease for one holder at a time", async () => {
    const path = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
    const lease = {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name: "talosmith" },
      spec: { holderIdentity: "a" },
    };
    const created = await call("POST", path, lease);
    const mine = { ...created.body, spec: { holderIdentity: "b" } };
    expect((await call("PUT", `${path}/talosmith`, mine)).code).toBe(200);
    expect(await call("PUT", `${path}/talosmith`, mine)).toMatchObject({ code: 409, body: { reason: "Conflict" } });
  });

  it("lists by watching: what is there, the mark, then the changes", async () => {
    const path =
      "/api/v1/nodes?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1";
    const text = await new Promise<string>((resolve, reject) => {
      const { ca, cert, key } = client.identity;
      request({ host: machines[0]?.address, port: 6443, path, ca, cert, key, agent: false }, (response) => {
        call(
          "PATCH",
          "/api/v1/nodes/w-2",
          { metadata: { labels: { rack: "7" } } },
          { type: "application/merge-patch+json" },
        ).catch(reject);
        collect<Buffer>(response).then((chunks) => resolve(Buffer.concat(chunks).toString()), reject);
      })
        .on("error", reject)
        .end();
    });
    const events = text
      .trim()
      .split("\n")
      .map(
        (line) =>
          JSON.parse(line) as {
            type: string;
            object: {
              metadata: { name?: string; labels?: Record<string, string>; annotations?: Record<string, string> };
            };
          },
      );
    expect(events.slice(0, 4).map((event) => event.type)).toEqual(["ADDED", "ADDED", "ADDED", "BOOKMARK"]);
    expect(events[3]?.object.metadata.annotations).toEqual({ "k8s.io/initial-events-end": "true" });
    expect(events.slice(4)).toContainEqual(
      expect.objectContaining({
        type: "MODIFIED",
        object: expect.objectContaining({ metadata: expect.objectContaining({ name: "w-2" }) }),
      }),
    );
  });

  it("calls a node not ready when its machine has no power, and forgets its pods when the node is deleted", async () => {
    const worker = machines[2] as Machine;
    lab.simulator.setPower(worker.id, false);
    const ready = async (): Promise<string> => {
      const { body } = await call("GET", "/api/v1/nodes/w-2");
      return body.status.conditions?.find((condition) => condition.type === "Ready")?.status ?? "";
    };
    await eventually(async () => (await ready()) === "Unknown");
    expect((await call("DELETE", "/api/v1/nodes/w-2")).code).toBe(200);
    expect((await call("GET", "/api/v1/nodes/w-2")).body).toMatchObject({
      code: 404,
      message: 'nodes "w-2" not found',
    });
    await eventually(async () => (await podOn("w-2")).length === 0);
  });
});
