// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { loadEnvironment } from "../../model/index.ts";
import { topologyOf, withLiveState } from "../../model/topology/index.ts";
import { plainFaults } from "../../simulator/control/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { faultWords } from "../../web/client/fault-words.ts";
import { topologyMap, UiApp } from "../../web/server/app.ts";
import type { ConsoleProject } from "../../web/server/index.ts";
import type { ActionPlan, OperationView, TopologyMap } from "../../web/shared/wire.ts";
import { idleProject, planWith } from "../support/console-project.ts";

const host = "127.0.0.1:8080";
const origin = `http://${host}`;
const ours = { host, origin, "x-talosmith": "1", "content-type": "application/json" };

function startApp(
  options: {
    readonly readOnly?: boolean;
    readonly project?: ConsoleProject;
    readonly hosts?: ReadonlySet<string>;
  } = {},
) {
  const app = new UiApp({
    hosts: options.hosts ?? new Set([host]),
    token: "the-token",
    newSession: () => "the-session",
    readOnly: options.readOnly ?? false,
    version: "0.0.0",
    program: "npx talosmith",
    project: options.project ?? idleProject(),
    assets: new Map([["/", { type: "text/html", content: "<!doctype html>" }]]),
    now: () => new Date("2026-11-16T00:00:00Z"),
    interval: 60_000,
  });
  const ask = (path: string, init: RequestInit = {}) => app.hono.request(path, { headers: { host }, ...init });
  const post = (path: string, headers: Record<string, string>, body: unknown = {}) =>
    app.hono.request(path, { method: "POST", headers, body: JSON.stringify(body) });
  const cookie = async () => (await post("/session", ours, { token: "the-token" })).headers.get("set-cookie") ?? "";
  return { app, ask, post, cookie };
}

describe("whom the page's server answers", () => {
  const without = (name: keyof typeof ours) => Object.fromEntries(Object.entries(ours).filter(([key]) => key !== name));
  const attacks: readonly [string, string, Record<string, string>, number][] = [
    ["nobody without a session", "/api/environments/local/operations", ours, 401],
    [
      "no host name that was rebound to us",
      "/api/environments/local/operations",
      { ...ours, host: "evil.example:8080" },
      421,
    ],
    ["no request without a host", "/session", without("host"), 421],
    ["no other origin", "/session", { ...ours, origin: "http://evil.example" }, 403],
    ["no origin that only begins like ours", "/session", { ...ours, origin: `${origin}.evil.example` }, 403],
    ["no request without an origin", "/session", without("origin"), 403],
    ["no form of another page, which cannot set our header", "/session", without("x-talosmith"), 403],
    ["no request that the browser calls cross-site", "/session", { ...ours, "sec-fetch-site": "cross-site" }, 403],
    ["no wrong token", "/session", ours, 401],
  ];
  test.each(attacks)("%s", async (_name, path, headers, status) => {
    const response = await startApp().post(path, headers, { token: "guess" });
    expect(response.status).toBe(status);
    expect(response.headers.get("set-cookie")).toBeNull();
  });

  // The file that `talosmith ui` opens is one.
  test("a link of another place leads to the empty page, and to nothing else", async () => {
    const { ask, cookie } = startApp();
    const arrival = {
      host,
      "sec-fetch-site": "cross-site",
      "sec-fetch-mode": "navigate",
      "sec-fetch-dest": "document",
    };
    expect((await ask("/", { headers: arrival })).status).toBe(200);
    expect((await ask("/", { headers: { ...arrival, "sec-fetch-dest": "iframe" } })).status).toBe(403);
    expect((await ask("/", { headers: { ...arrival, "sec-fetch-mode": "no-cors" } })).status).toBe(403);
    const withSession = { ...arrival, cookie: await cookie() };
    expect((await ask("/api/environments/local/topology.svg", { headers: withSession })).status).toBe(403);
  });

  test("reads need a session too, the empty page does not", async () => {
    const { ask } = startApp();
    expect((await ask("/api/events")).status).toBe(401);
    expect((await ask("/api/environments/local/topology.svg")).status).toBe(401);
    expect((await ask("/")).status).toBe(200);
  });

  test("the token works once and becomes a cookie that other sites and scripts never see", async () => {
    const { post } = startApp();
    const first = await post("/session", ours, { token: "the-token" });
    expect(first.status).toBe(204);
    expect(first.headers.get("set-cookie")).toMatch(/HttpOnly.*SameSite=Strict|SameSite=Strict.*HttpOnly/);
    expect((await post("/session", ours, { token: "the-token" })).status).toBe(401);
  });

  test.each(["null", "[]", "7", '"the-token"', "{", ""])("a session is not opened by %j", async (body) => {
    const { app } = startApp();
    expect((await app.hono.request("/session", { method: "POST", headers: ours, body })).status).toBe(401);
  });

  test("the address with its token still leads whoever has the session to the page", async () => {
    const { post, cookie } = startApp();
    const headers = { ...ours, cookie: await cookie() };
    expect((await post("/session", headers, { token: "the-token" })).status).toBe(204);
    expect((await post("/session", { ...ours, cookie: "x=y" }, { token: "the-token" })).status).toBe(401);
  });

  test("pages of other projects keep their sessions: browsers share cookies between the ports of a host", async () => {
    const named = async (at: string) => {
      const { app } = startApp({ hosts: new Set([at]) });
      const headers = { ...ours, host: at, origin: `http://${at}` };
      const opened = await app.hono.request("/session", { method: "POST", headers, body: '{"token":"the-token"}' });
      return opened.headers.get("set-cookie")?.split("=")[0];
    };
    expect(await named("127.0.0.1:8080")).not.toBe(await named("127.0.0.1:8081"));
    expect(await named("localhost:8080")).toBe(await named("127.0.0.1:8080"));
  });

  test("an oversized body is refused before it is read", async () => {
    const { post } = startApp();
    expect((await post("/session", ours, { token: "x".repeat(70_000) })).status).toBe(413);
  });

  test("no script, style or frame from outside is allowed, and no inline script", async () => {
    const policy = (await startApp().ask("/")).headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain("unsafe");
  });
});

describe("what the page can do", () => {
  test("it shows the plan, and starts the work with its steps", async () => {
    const { post, cookie } = startApp();
    const headers = { ...ours, cookie: await cookie() };
    const plan = await post("/api/environments/local/plan", headers, { action: { kind: "apply" } });
    const { id, ...shown } = (await plan.json()) as ActionPlan;
    const steps = [{ id: "1", sentence: "create machine local-cp-1", destructive: false }];
    expect(shown).toEqual({ manager: "talosmith", steps, findings: [], warnings: [], confirm: null });
    const started = await post("/api/environments/local/operations", headers, { action: { kind: "apply" }, plan: id });
    expect(started.status).toBe(202);
    expect((await started.json()) as OperationView).toMatchObject({ kind: "apply", state: "running" });
  });

  test("a second operation on the same environment is refused while the first is at work, until that is stopped", async () => {
    const perform: ConsoleProject["perform"] = (_environment, _action, _events, signal) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(new TalosError("canceled", "stopped at a safe point")));
      });
    const { app, post, cookie } = startApp({ project: idleProject({ perform }) });
    const headers = { ...ours, cookie: await cookie() };
    const apply = () => post("/api/environments/local/operations", headers, { action: { kind: "apply" } });
    const { id } = (await (await apply()).json()) as OperationView;
    expect((await apply()).status).toBe(409);
    expect((await post(`/api/operations/${id}/resume`, headers)).status).toBe(409);
    expect((await post(`/api/operations/${id}/stop`, headers)).status).toBe(202);
    await app.close();
    expect((await post(`/api/operations/${id}/stop`, headers)).status).toBe(409);
    const resumed = await post(`/api/operations/${id}/resume`, headers);
    expect([resumed.status, await resumed.json()]).toMatchObject([202, { kind: "apply", state: "running" }]);
    await app.close();
  });

  test("what is resumed follows the file as it is now, and loses no data that nobody agreed to", async () => {
    const done: string[] = [];
    let steps = [{ id: "create/local-cp-1", sentence: "create machine local-cp-1", destructive: false }];
    const withWorkers = (count: number) =>
      loadEnvironment(
        ".",
        "local",
        new Map([
          [
            "environments/local.yaml",
            `infrastructure: { kind: simulated }\ncontrolPlane: {}\nworkers: [{ count: ${count} }]\n`,
          ],
        ]),
      );
    let environment = withWorkers(2);
    const { app, post, cookie } = startApp({
      project: idleProject({
        load: () => environment,
        plan: async () => planWith(steps),
        perform: async ({ workers }, { kind }, _events, _signal, review) => {
          review?.(planWith(steps));
          done.push(`${kind} with ${workers[0]?.count} workers`);
          throw new TalosError("unavailable", "a machine does not answer");
        },
      }),
    });
    const headers = { ...ours, cookie: await cookie() };
    const begin = async (body: object) =>
      ((await (await post("/api/environments/local/operations", headers, body)).json()) as OperationView).id;
    const settled = () => new Promise((resolve) => setImmediate(resolve));
    const apply = await begin({ action: { kind: "apply" } });
    await settled();
    // Meanwhile somebody has made the cluster larger.
    environment = withWorkers(4);
    expect((await post(`/api/operations/${apply}/resume`, headers)).status).toBe(202);
    await settled();
    expect(done).toEqual(["apply with 2 workers", "apply with 4 workers"]);

    steps = [{ id: "reset/local-w-2", sentence: "wipe the disk of local-w-2", destructive: true }];
    const refused = await post(`/api/operations/${apply}/resume`, headers);
    expect([refused.status, await refused.json()]).toEqual([400, { error: expect.stringContaining("destroys data") }]);
    const scale = await begin({ action: { kind: "scale", pool: "w", count: 1 }, confirm: "local" });
    await settled();
    expect((await post(`/api/operations/${scale}/resume`, headers)).status).toBe(202);
    await app.close();
    expect(done).toEqual([
      "apply with 2 workers",
      "apply with 4 workers",
      "scale with 4 workers",
      "scale with 4 workers",
    ]);
  });

  test("only the plan that was shown is applied: one that has changed meanwhile is refused", async () => {
    let steps = [{ id: "1", sentence: "apply config to local-w-1", destructive: false }];
    const applied: string[] = [];
    const { app, ask, post, cookie } = startApp({
      project: idleProject({
        plan: async () => planWith(steps, { manager: "terraform" }),
        perform: async (_environment, { kind }, _events, _signal, review) => {
          review?.(planWith(steps));
          applied.push(kind);
          return undefined;
        },
      }),
    });
    const headers = { ...ours, cookie: await cookie() };
    const action = { kind: "apply" };
    const { id } = (await (await post("/api/environments/local/plan", headers, { action })).json()) as ActionPlan;
    const start = (plan: string) => post("/api/environments/local/operations", headers, { action, plan });
    expect([(await start("another")).status, applied]).toEqual([409, []]);
    expect((await start(id)).status).toBe(202);
    await expect.poll(() => applied).toEqual(["apply"]);
    steps = [...steps, { id: "2", sentence: "change aws_lb.api", destructive: false }];
    expect((await start(id)).status).toBe(202);
    await app.close();
    expect(applied).toEqual(["apply"]);
    const response = await ask("/api/events", { headers: { host, cookie: headers.cookie } });
    const { value } = (await response.body?.getReader().read()) ?? {};
    expect(new TextDecoder().decode(value)).toContain(
      '"outcome":"the plan has changed. Nothing was done. Open the action again and review the new plan."',
    );
  });

  const destroy = (confirm: string) => ({ action: { kind: "destroy" }, confirm });
  test("a destroy wants the cluster's name", async () => {
    const plan = async () => planWith([], { confirm: "local" });
    const { post, cookie } = startApp({ project: idleProject({ plan }) });
    const headers = { ...ours, cookie: await cookie() };
    expect((await post("/api/environments/local/operations", headers, destroy("lokal"))).status).toBe(400);
    expect((await post("/api/environments/local/operations", headers, destroy("local"))).status).toBe(202);
  });

  test("so does whatever loses data, such as a machine that leaves", async () => {
    const plan = async () => planWith([{ id: "1", sentence: "wipe the disk of local-w-2", destructive: true }]);
    const { post, cookie } = startApp({ project: idleProject({ plan }) });
    const headers = { ...ours, cookie: await cookie() };
    const action = { kind: "scale", pool: "w", count: 1 };
    const shown = await post("/api/environments/local/plan", headers, { action });
    expect(await shown.json()).toMatchObject({ confirm: "local" });
    expect((await post("/api/environments/local/operations", headers, { action })).status).toBe(400);
    expect((await post("/api/environments/local/operations", headers, { action, confirm: "local" })).status).toBe(202);
  });

  const wrong: readonly unknown[] = [
    {},
    { action: { kind: "format" } },
    { action: { kind: "reboot" } },
    { action: { kind: "scale", pool: "w", count: -1 } },
    { action: { kind: "upgrade", talosVersion: "newest" } },
    { action: { kind: "apply", force: true } },
  ];
  test.each(wrong)("it refuses %j", async (body) => {
    const { post, cookie } = startApp();
    const headers = { ...ours, cookie: await cookie() };
    for (const path of ["plan", "operations"])
      expect((await post(`/api/environments/local/${path}`, headers, body)).status).toBe(400);
  });

  test("a read-only page changes nothing", async () => {
    const { post, cookie } = startApp({ readOnly: true });
    const headers = { ...ours, cookie: await cookie() };
    const paths = ["environments/local/operations", "environments", "environments/local/machines/x/disturb"];
    for (const path of [...paths, "operations/1/stop", "operations/1/resume"])
      expect((await post(`/api/${path}`, headers, destroy("local"))).status).toBe(403);
  });

  test("where terraform is missing the clusters that it manages are read-only, and the reason is given", async () => {
    const reason = "local: it is managed by Terraform, but neither terraform nor tofu is on the PATH";
    const { post, cookie } = startApp({ project: idleProject({ obstacle: async () => reason }) });
    const headers = { ...ours, cookie: await cookie() };
    const versions = { kind: "upgrade", talosVersion: "v1.13.9" };
    for (const action of [{ kind: "apply" }, versions, { kind: "scale", pool: "w", count: 1 }, { kind: "destroy" }])
      for (const path of ["plan", "operations"]) {
        const response = await post(`/api/environments/local/${path}`, headers, { action });
        expect([response.status, await response.json()]).toEqual([409, { error: reason }]);
      }
  });

  test("what changes nothing of a cluster's shape is done all the same", async () => {
    const { post, cookie } = startApp({
      project: idleProject({ obstacle: async () => "terraform is missing" }),
    });
    const headers = { ...ours, cookie: await cookie() };
    for (const action of [{ kind: "backup" }, { kind: "cordon", machine: "local-w-1" }])
      expect((await post("/api/environments/local/plan", headers, { action })).status).toBe(200);
  });

  test("only environments of the folder are opened, whatever the address says", async () => {
    const { post, cookie } = startApp();
    const headers = { ...ours, cookie: await cookie() };
    expect((await post(`/api/environments/${encodeURIComponent("../../etc/passwd")}/plan`, headers)).status).toBe(404);
  });

  test("the topology is drawn from the file when nothing was seen yet", async () => {
    const { ask, cookie } = startApp();
    const response = await ask("/api/environments/local/topology.svg", { headers: { host, cookie: await cookie() } });
    expect(response.headers.get("content-type")).toBe("image/svg+xml");
    expect(await response.text()).toContain("local-cp-3");
  });

  test("the map of the topology says where each machine is, and changes when the picture does", async () => {
    const { ask, cookie } = startApp();
    const response = await ask("/api/environments/local/topology.json", { headers: { host, cookie: await cookie() } });
    const { width, height, revision, machines } = (await response.json()) as TopologyMap;
    expect(machines.map(({ name }) => name)).toEqual([
      ...["local-cp-1", "local-cp-2", "local-cp-3"],
      ...["local-w-1", "local-w-2"],
    ]);
    for (const box of machines) {
      expect(box.x + box.width).toBeLessThan(width);
      expect(box.y + box.height).toBeLessThan(height);
    }
    const live = withLiveState(topologyOf(loadEnvironment(".", "local")), new Map([["local-w-1", { state: "ready" }]]));
    expect(topologyMap(live, "wide").revision).not.toBe(revision);
  });

  test("a folder of environments that cannot be read is shown, and the server goes on", async () => {
    const environmentNames = () => {
      throw new Error("EACCES: permission denied, scandir 'environments'");
    };
    const { app, ask, cookie } = startApp({ project: idleProject({ environmentNames }) });
    const response = await ask("/api/events", { headers: { host, cookie: await cookie() } });
    const { value } = (await response.body?.getReader().read()) ?? {};
    expect(new TextDecoder().decode(value)).toContain('"broken":[{"environment":"environments/","fault":"EACCES');
    await app.close();
  });

  test("an environment that was not looked at yet is said to be so, and not taken for one that is not deployed", async () => {
    const { app, ask, cookie } = startApp({ project: idleProject({ observe: () => new Promise(() => {}) }) });
    const response = await ask("/api/events", { headers: { host, cookie: await cookie() } });
    const { value } = (await response.body?.getReader().read()) ?? {};
    const sent = new TextDecoder().decode(value);
    expect(sent).toContain('"clusters":[],"broken":[],"unseen":["local"]');
    void app.close();
  });
});

test("every fault that can be pressed is told in words", () => {
  expect(plainFaults.filter((fault) => faultWords[fault] === undefined)).toEqual([]);
});
