// SPDX-License-Identifier: Apache-2.0
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Answer, type Body, eventually, KubernetesClient } from "./kubernetes-client.ts";
import { configFor, Laboratory } from "./laboratory.ts";

let lab: Laboratory;
let client: KubernetesClient;
let endpoint = "";

beforeAll(async () => {
  lab = await Laboratory.open("workloads");
  const [first] = await lab.cluster(1, 2);
  endpoint = first?.address ?? "";
  client = await KubernetesClient.open(lab, endpoint);
});
afterAll(() => lab.close());

const deployments = "/apis/apps/v1/namespaces/default/deployments";
const merge = { type: "application/merge-patch+json" };

const get = async (path: string): Promise<Body> => (await client.call("GET", path)).body;
const post = (path: string, body: unknown): Promise<Answer<Body>> => client.call("POST", path, body);
const apply = (path: string, manager: string, body: unknown, more = ""): Promise<Answer<Body>> =>
  client.call("PATCH", `${path}?fieldManager=${manager}${more}`, body, { type: "application/apply-patch+yaml" });

function workload(kind: string, name: string, tag: string, spec: object = {}): object {
  const labels = { app: name };
  const containers = [{ name: "web", image: `example.com/web:${tag}` }];
  const restartPolicy = kind === "Job" ? "Never" : "Always";
  const template = { metadata: { labels }, spec: { containers, restartPolicy } };
  const apiVersion = kind === "Job" ? "batch/v1" : "apps/v1";
  const selector = kind === "Job" ? {} : { selector: { matchLabels: labels } };
  return { apiVersion, kind, metadata: { name }, spec: { ...selector, template, ...spec } };
}

const image = (tag: string): object => ({
  spec: { template: { spec: { containers: [{ name: "web", image: `example.com/web:${tag}` }] } } },
});

/** What `kubectl rollout status` and `helm --wait` wait for. */
async function rolledOut(path: string, replicas: number): Promise<boolean> {
  const { metadata, status } = await get(path);
  return (
    status.observedGeneration === metadata.generation &&
    status.updatedReplicas === replicas &&
    status.readyReplicas === replicas &&
    status.replicas === replicas
  );
}

describe("a deployment", () => {
  it("gets defaults, pods and a new replica set for every template, and can be scaled", async () => {
    const { code, body } = await post(deployments, workload("Deployment", "web", "v1", { replicas: 3 }));
    expect(code).toBe(201);
    expect(body.spec).toMatchObject({ progressDeadlineSeconds: 600, strategy: { type: "RollingUpdate" } });
    await eventually(() => rolledOut(`${deployments}/web`, 3));
    await client.call("PATCH", `${deployments}/web`, image("v2"), merge);
    await eventually(() => rolledOut(`${deployments}/web`, 3));
    expect((await get(`${deployments}/web`)).metadata.annotations).toMatchObject({
      "deployment.kubernetes.io/revision": "2",
    });
    const sets = (await get("/apis/apps/v1/namespaces/default/replicasets?labelSelector=app%3Dweb")).items;
    expect(sets.map(({ spec }) => spec.replicas).sort()).toEqual([0, 3]);
    const scale = await client.call("PATCH", `${deployments}/web/scale`, { spec: { replicas: 1 } }, merge);
    expect(scale.body).toMatchObject({ kind: "Scale", spec: { replicas: 1 } });
    await eventually(() => rolledOut(`${deployments}/web`, 1));
  });

  it("keeps its old pods when the image of the new ones can't be had", async () => {
    await post(deployments, workload("Deployment", "bad", "v1", { replicas: 2 }));
    await eventually(() => rolledOut(`${deployments}/bad`, 2));
    await client.call("PATCH", `${deployments}/bad`, image("missing"), merge);
    const pods = "/api/v1/namespaces/default/pods?labelSelector=app%3Dbad";
    await eventually(async () => JSON.stringify(await get(pods)).includes("ImagePullBackOff"));
    const { status } = await get(`${deployments}/bad`);
    expect(status).toMatchObject({ updatedReplicas: 1, readyReplicas: 2 });
    const waiting = (await get(pods)).items.find((pod) => pod.status.phase === "Pending");
    const log = await client.call("GET", `/api/v1/namespaces/default/pods/${waiting?.metadata.name}/log`);
    expect(log).toMatchObject({
      code: 400,
      body: { message: expect.stringContaining("failing to pull image") as unknown },
    });
  });

  it("does not let its selector change", async () => {
    const selector = { spec: { selector: { matchLabels: { app: "other" } } } };
    expect(await client.call("PATCH", `${deployments}/web`, selector, merge)).toMatchObject({
      code: 422,
      body: { reason: "Invalid", message: expect.stringContaining("field is immutable") as unknown },
    });
  });

  it("takes its replica sets and pods with it", async () => {
    await client.call("DELETE", `${deployments}/bad`);
    const left = async (path: string): Promise<number> => (await get(`${path}?labelSelector=app%3Dbad`)).items.length;
    await eventually(async () => (await left("/apis/apps/v1/namespaces/default/replicasets")) === 0);
    await eventually(async () => (await left("/api/v1/namespaces/default/pods")) === 0);
  });
});

describe("other workloads", () => {
  it("run where taints and selectors let them, in order, or until they are done", async () => {
    const apps = "/apis/apps/v1/namespaces/default";
    await post(`${apps}/daemonsets`, workload("DaemonSet", "agent", "v1"));
    await post("/apis/storage.k8s.io/v1/storageclasses", {
      apiVersion: "storage.k8s.io/v1",
      kind: "StorageClass",
      metadata: { name: "disk" },
      provisioner: "disk.example.com",
    });
    const volumeClaimTemplates = [{ metadata: { name: "data" }, spec: { storageClassName: "disk" } }];
    await post(`${apps}/statefulsets`, workload("StatefulSet", "db", "v1", { replicas: 2, volumeClaimTemplates }));
    await post("/apis/batch/v1/namespaces/default/jobs", workload("Job", "once", "v1"));
    // The control plane's taint keeps the daemon away.
    await eventually(async () => (await get(`${apps}/daemonsets/agent`)).status.numberReady === 2);
    await eventually(async () => (await get(`${apps}/statefulsets/db`)).status.readyReplicas === 2);
    await eventually(async () => (await get("/apis/batch/v1/namespaces/default/jobs/once")).status.succeeded === 1);
    const claims = (await get("/api/v1/namespaces/default/persistentvolumeclaims")).items;
    expect(claims.map(({ metadata, status }) => [metadata.name, status.phase])).toEqual([
      ["data-db-0", "Bound"],
      ["data-db-1", "Bound"],
    ]);
  });
});

describe("a node that waits for a cloud controller manager", () => {
  it("has the id from its config, and runs no ordinary pod until the controller has removed the taint", async () => {
    const machine = await lab.machine("cloud");
    const cloud = `
cluster: { externalCloudProvider: { enabled: true } }
machine: { kubelet: { extraArgs: { provider-id: "aws:///eu-central-1a/i-0123" } } }`;
    await lab.apply(machine, configFor("worker", endpoint, machine.name, [cloud]));
    await lab.ready(machine);
    await eventually(async () => (await client.call("GET", "/api/v1/nodes/cloud")).code === 200);
    const { spec } = await get("/api/v1/nodes/cloud");
    expect(spec).toMatchObject({
      providerID: "aws:///eu-central-1a/i-0123",
      taints: [{ key: "node.cloudprovider.kubernetes.io/uninitialized", value: "true", effect: "NoSchedule" }],
    });
    const template = { metadata: { labels: { app: "here" } }, spec: pinned("cloud") };
    await post(deployments, workload("Deployment", "here", "v1", { replicas: 1, template }));
    const pods = "/api/v1/namespaces/default/pods?labelSelector=app%3Dhere";
    await eventually(async () => (await get(pods)).items.length === 1);
    expect((await get(pods)).items[0]?.status.phase).toBe("Pending");
    await client.call("PATCH", "/api/v1/nodes/cloud", { spec: { taints: null } }, merge);
    await eventually(() => rolledOut(`${deployments}/here`, 1));
  });

  const pinned = (node: string) => ({
    nodeSelector: { "kubernetes.io/hostname": node },
    containers: [{ name: "web", image: "example.com/web:v1" }],
  });
});

describe("server-side apply", () => {
  const maps = "/api/v1/namespaces/default/configmaps";
  const map = (data: object): object => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "shared" }, data });

  it("creates, drops what its manager no longer says, and leaves what others say", async () => {
    expect((await apply(`${maps}/shared`, "one", map({ a: "1", b: "1" }))).code).toBe(201);
    expect((await apply(`${maps}/shared`, "two", map({ c: "2" }))).code).toBe(200);
    expect((await apply(`${maps}/shared`, "one", map({ a: "1" }))).body.data).toEqual({ a: "1", c: "2" });
  });

  it("calls it a conflict when another owns the field, unless forced", async () => {
    expect(await apply(`${maps}/shared`, "two", map({ a: "2", c: "2" }))).toMatchObject({
      code: 409,
      body: { reason: "Conflict", message: 'Apply failed with 1 conflict: conflict with "one": .data.a' },
    });
    const forced = await apply(`${maps}/shared`, "two", map({ a: "2", c: "2" }), "&force=true");
    expect(forced.body.data).toEqual({ a: "2", c: "2" });
  });

  it("changes nothing in a dry run, and no revision when nothing changes", async () => {
    const before = await get(`${maps}/shared`);
    const dry = await apply(`${maps}/shared`, "two", map({ a: "3" }), "&force=true&dryRun=All");
    expect(dry.body.data).toEqual({ a: "3" });
    await apply(`${maps}/shared`, "two", map({ a: "2", c: "2" }));
    expect(await get(`${maps}/shared`)).toEqual(before);
  });

  it("wants to know who applies", async () => {
    const type = "application/apply-patch+yaml";
    expect((await client.call("PATCH", `${maps}/shared`, map({}), { type })).code).toBe(422);
  });
});

describe("custom resources and namespaces", () => {
  it("are served as soon as they are defined, and go with their namespace", async () => {
    const definition = {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "widgets.example.com" },
      spec: {
        group: "example.com",
        scope: "Namespaced",
        names: { plural: "widgets", kind: "Widget", shortNames: ["wd"] },
        versions: [{ name: "v1", served: true, storage: true }],
      },
    };
    const widget = { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "one" }, spec: { size: 3 } };
    const widgets = "/apis/example.com/v1/namespaces/lab/widgets";
    expect((await post(widgets, widget)).code).toBe(404);
    await post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition);
    expect(await post(widgets, widget)).toMatchObject({ code: 404, body: { message: 'namespaces "lab" not found' } });
    await post("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "lab" } });
    expect((await post(widgets, widget)).code).toBe(201);
    expect((await get("/apis/example.com/v1")).resources).toContainEqual(
      expect.objectContaining({ name: "widgets", shortNames: ["wd"] }),
    );
    expect((await get("/api/v1/namespaces/lab/serviceaccounts/default")).metadata.name).toBe("default");
    await client.call("DELETE", "/api/v1/namespaces/lab");
    await eventually(async () => (await client.call("GET", "/api/v1/namespaces/lab")).code === 404);
    expect((await client.call("GET", `${widgets}/one`)).code).toBe(404);
  });
});
