// SPDX-License-Identifier: Apache-2.0
// Answers that a real API server of Kubernetes 1.36 gave to the same requests.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Body, eventually, KubernetesClient } from "./kubernetes-client.ts";
import { Laboratory } from "./laboratory.ts";

let lab: Laboratory;
let client: KubernetesClient;

beforeAll(async () => {
  lab = await Laboratory.open("api-server");
  const [first] = await lab.cluster(1, 0);
  client = await KubernetesClient.open(lab, first?.address ?? "");
});
afterAll(() => lab.close());

const core = "/api/v1/namespaces/default";
const budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
const leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";

const pod = (name: string, labels: object = {}, more: object = {}) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, labels },
  spec: { containers: [{ name: "web", image: "example.com/web:v1" }], tolerations: [{ operator: "Exists" }], ...more },
});
const map = (name: string, more: object = {}) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, ...more });
const lease = (name: string, renewTime: string) => ({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { name },
  spec: { holderIdentity: "a", leaseDurationSeconds: 1, renewTime },
});
const deployment = (spec: object) => ({ apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web" }, spec });

describe("an eviction", () => {
  let count = 0;
  /** Of a bare pod with these labels under these budgets. */
  async function evict(labels: object, specs: readonly object[]) {
    count += 1;
    const name = `evicted-${count}`;
    const own = { case: name, ...labels };
    await client.call("POST", `${core}/pods`, pod(name, own));
    await eventually(
      async () => (await client.call<Body>("GET", `${core}/pods/${name}`)).body.status.phase === "Running",
    );
    for (const [index, spec] of specs.entries()) {
      const metadata = { name: `${name}-${index}` };
      await client.call("POST", budgets, { apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata, spec });
    }
    const body = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name } };
    const answer = await client.call<Body>("POST", `${core}/pods/${name}/eviction`, body);
    for (const index of specs.keys()) await client.call("DELETE", `${budgets}/${name}-${index}`);
    return answer;
  }
  const app = { app: "web" };
  const selector = { matchLabels: app };
  const by = (operator: string, values?: readonly string[]) => ({
    matchExpressions: [{ key: "app", operator, ...(values && { values }) }],
  });

  it.each<[string, number, readonly object[]]>([
    ["without a budget", 201, []],
    ["of a bare pod under minAvailable: 1", 429, [{ minAvailable: 1, selector }]],
    ["of a bare pod under minAvailable: 0", 201, [{ minAvailable: 0, selector }]],
    ["of a bare pod under maxUnavailable: 1, which no controller counts", 429, [{ maxUnavailable: 1, selector }]],
    ["of a bare pod under a share", 429, [{ minAvailable: "10%", selector }]],
    [
      "with two budgets",
      500,
      [
        { minAvailable: 0, selector },
        { minAvailable: 0, selector },
      ],
    ],
    ["under a budget for others by label", 201, [{ minAvailable: 1, selector: { matchLabels: { app: "other" } } }]],
    ["under a budget by In", 429, [{ minAvailable: 1, selector: by("In", ["web"]) }]],
    ["under a budget for others by In", 201, [{ minAvailable: 1, selector: by("In", ["other"]) }]],
    ["under a budget for others by NotIn", 201, [{ minAvailable: 1, selector: by("NotIn", ["web"]) }]],
    ["under a budget by Exists", 429, [{ minAvailable: 1, selector: by("Exists") }]],
    ["under a budget for others by DoesNotExist", 201, [{ minAvailable: 1, selector: by("DoesNotExist") }]],
    ["under a budget without a selector", 201, [{ minAvailable: 1 }]],
  ])("%s: %i", async (_, code, specs) => {
    const answer = await evict(app, specs);
    expect(answer.code, answer.body.message).toBe(code);
    if (code === 500) expect(answer.body.message).toContain("more than one PodDisruptionBudget");
    await client.call("DELETE", `${core}/pods/evicted-${count}`, { gracePeriodSeconds: 0 });
  });
});

describe("a request", () => {
  const json = { type: "application/json" };
  const apply = { type: "application/apply-patch+yaml" };
  const strict = "?fieldValidation=Strict";
  beforeAll(async () => {
    await client.call("POST", `${core}/configmaps`, map("taken"));
    await client.call("POST", leases, lease("held", "2026-11-16T00:00:00.000000Z"));
  });

  it.each<[string, string, string, unknown, { type: string }, number, RegExp]>([
    [
      "server-side apply of an unknown field",
      "PATCH",
      "/apis/apps/v1/namespaces/default/deployments/web?fieldManager=me",
      deployment({ nonsense: true }),
      apply,
      500,
      /failed to create typed patch object \(default\/web; apps\/v1, Kind=Deployment\): \.spec\.nonsense: field not declared in schema/,
    ],
    [
      "an unknown field under a name that is taken, strict",
      "POST",
      `${core}/configmaps${strict}`,
      map("taken", { nonsense: 1 }),
      json,
      400,
      /strict decoding error: unknown field "nonsense"/,
    ],
    ["a name that is taken, strict", "POST", `${core}/configmaps${strict}`, map("taken"), json, 409, /already exists/],
    [
      "an unknown field of a container, strict",
      "POST",
      `${core}/pods${strict}`,
      pod("x", {}, { containers: [{ name: "web", image: "a:b", foo: 1 }] }),
      json,
      400,
      /unknown field "spec.containers\[0\].foo"/,
    ],
    [
      "a pod without an image",
      "POST",
      `${core}/pods`,
      pod("imageless", {}, { containers: [{ name: "web" }] }),
      json,
      422,
      /spec\.containers\[0\]\.image: Required value/,
    ],
    [
      "a pod without containers",
      "POST",
      `${core}/pods`,
      pod("empty", {}, { containers: [] }),
      json,
      422,
      /spec\.containers: Required/,
    ],
    [
      "a name that is none",
      "POST",
      `${core}/pods`,
      pod("Bad_Name"),
      json,
      422,
      /metadata\.name: Invalid value: "Bad_Name"/,
    ],
    ["a Lease without microseconds", "POST", leases, lease("plain", "2026-11-16T00:00:00Z"), json, 400, /parsing time/],
    [
      "a Lease that is replaced unseen",
      "PUT",
      `${leases}/held`,
      lease("held", "2026-11-16T00:00:01.000000Z"),
      json,
      422,
      /metadata\.resourceVersion: Invalid value: 0: must be specified for an update/,
    ],
    ["a ConfigMap that is replaced unseen", "PUT", `${core}/configmaps/taken`, map("taken"), json, 200, /^$/],
    [
      "an unknown field selector",
      "GET",
      "/api/v1/pods?fieldSelector=spec.nonsense%3Da",
      undefined,
      json,
      400,
      /field label not supported: spec\.nonsense/,
    ],
    ["a known field selector", "GET", "/api/v1/pods?fieldSelector=spec.nodeName%3Da", undefined, json, 200, /^$/],
    [
      "a patch as text",
      "PATCH",
      `${core}/configmaps/taken`,
      {},
      { type: "text/plain" },
      415,
      /accepted media types include: application\/json-patch\+json/,
    ],
  ])("%s is answered with its code", async (_, method, path, body, options, code, message) => {
    const answer = await client.call<Body>(method, path, body, options);
    expect(answer.code, answer.body.message).toBe(code);
    expect(answer.body.message ?? "").toMatch(message);
  });

  it.each(["/nonsense", "/apis/nonsense/v1/things", "/api/v1/namespaces/default/nonsense"])(
    "to %s is answered in plain text",
    async (path) => {
      const answer = await client.call<unknown>("GET", path);
      expect(answer).toMatchObject({ code: 404, body: "404 page not found\n" });
      expect(answer.headers["content-type"]).toContain("text/plain");
    },
  );

  it("for a list gets items that do not repeat what they are", async () => {
    const { body } = await client.call<Body & { kind: string }>("GET", `${core}/configmaps`);
    expect(body.kind).toBe("ConfigMapList");
    expect(body.items.length).toBeGreaterThan(0);
    for (const item of body.items) expect(Object.keys(item)).not.toEqual(expect.arrayContaining(["kind"]));
    const one = await client.call<Body>("GET", `${core}/configmaps/taken`);
    expect(one.body).toMatchObject({ kind: "ConfigMap", apiVersion: "v1" });
  });
});
