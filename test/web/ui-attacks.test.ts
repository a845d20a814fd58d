// SPDX-License-Identifier: Apache-2.0
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type IncomingHttpHeaders, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { loadEnvironment } from "../../model/index.ts";
import { systemClock } from "../../talos/clock.ts";
import { assetsFromSource, type ConsoleProject, type RunningUi, serveUi } from "../../web/server/index.ts";
import { openConsoleProject } from "../../web/server/project.ts";
import { projectSimulator } from "../../workspace/simulator.ts";
import { testContext } from "../support/command-context.ts";

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Over a real socket. An endless answer is read until it has told `until`, or for as long as `patience` says. */
function ask(
  address: string,
  path: string,
  {
    method = "GET",
    headers = {},
    body,
    patience = 20_000,
    until,
  }: { method?: string; headers?: Record<string, string>; body?: string; patience?: number; until?: string } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const call = request(new URL(path, address), { method, headers }, (response) => {
      let text = "";
      const answer = () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text });
      const enough = () => {
        clearTimeout(timer);
        answer();
        call.destroy();
      };
      const timer = setTimeout(enough, patience);
      response.setEncoding("utf8");
      response.on("data", (piece: string) => {
        text += piece;
        if (until !== undefined && text.includes(until)) enough();
      });
      response.on("error", () => {});
      response.on("end", () => {
        clearTimeout(timer);
        answer();
      });
    });
    call.on("error", reject);
    call.end(body);
  });
}

describe("the page's server on a real socket", { timeout: 240_000 }, () => {
  const root = mkdtempSync(join(tmpdir(), "talosmith-ui-attacks-"));
  const stop = new AbortController();
  let project: ConsoleProject;
  let ui: RunningUi;
  let ours: Record<string, string>;
  let cookie = "";

  beforeAll(async () => {
    vi.stubEnv("TALOSMITH_SIMULATOR_TIME_SCALE", "0.1");
    mkdirSync(join(root, "environments"));
    writeFileSync(join(root, "cdktf.json"), "{}");
    const text =
      "infrastructure: { kind: simulated }\ncontrolPlane: { count: 1 }\nworkers: []\nbackup: { directory: backups }\n";
    writeFileSync(join(root, "environments/tiny.yaml"), text);
    const context = testContext({
      cwd: root,
      env: { PATH: "/nowhere" },
      clock: systemClock,
      signal: stop.signal,
    });
    project = openConsoleProject(root, context);
    const serving = { project, assets: await assetsFromSource(), now: () => new Date(), interval: 1_000 };
    const said = { version: "0.0.0", program: "talosmith" };
    ui = await serveUi({ ...serving, ...said, port: 0, readOnly: false, token: "t", newSession: () => "s" });
    const { host, origin } = new URL(ui.address);
    ours = { host, origin, "x-talosmith": "1", "content-type": "application/json" };
  });

  afterAll(async () => {
    await ui.close();
    const simulator = projectSimulator(root);
    for (const { id } of await simulator.listMachines()) await simulator.deleteMachine(id);
    await simulator.shutdown();
    vi.unstubAllEnvs();
    rmSync(root, { recursive: true, force: true });
  });

  const attacks: readonly [string, string, Record<string, string | undefined>, number][] = [
    ["without a session", "/api/environments/tiny/operations", {}, 401],
    ["with a host name that was rebound", "/session", { host: "evil.example" }, 421],
    ["with another page's origin", "/session", { origin: "http://evil.example" }, 403],
    ["without our header", "/session", { "x-talosmith": undefined }, 403],
  ];
  test.each(attacks)("a request %s gets nothing", async (_what, path, change, status) => {
    const given = Object.entries({ ...ours, ...change }).filter(([, value]) => value !== undefined);
    const headers = Object.fromEntries(given) as Record<string, string>;
    const answer = await ask(ui.address, path, { method: "POST", headers, body: "{}" });
    expect(answer.status).toBe(status);
    expect(answer.headers["set-cookie"]).toBeUndefined();
  });

  test.each(["content-length", "transfer-encoding"])("an oversized body with %s is refused", async (by) => {
    const framing = by === "content-length" ? { "content-length": "100000" } : { "transfer-encoding": "chunked" };
    const headers = { ...ours, ...framing };
    const refused = ask(ui.address, "/session", { method: "POST", headers, body: "x".repeat(100_000) });
    // The server may end the connection before everything was sent: that is a refusal, too.
    expect(
      await refused.then(
        ({ status }) => status,
        (error: Error) => error.message,
      ),
    ).toSatisfy((answer: unknown) => answer === 413 || /reset|EPIPE|hang up/.test(String(answer)));
  });

  test("what the browser loads is at most 60 kB in all", async () => {
    const sizes = [...(await assetsFromSource())].map(
      ([path, { content }]) => [path, gzipSync(content).length] as const,
    );
    const total = sizes.reduce((sum, [, size]) => sum + size, 0);
    console.info(`the page in kB, gzipped: ${(total / 1000).toFixed(1)}`);
    expect(total).toBeLessThanOrEqual(60_000);
  });

  test("no answer of any address holds a secret of the cluster", async () => {
    const opening = await ask(ui.address, "/session", { method: "POST", headers: ours, body: '{"token":"t"}' });
    cookie = opening.headers["set-cookie"]?.[0]?.split(";")[0] ?? "";
    const headers = { ...ours, cookie };
    const post = (path: string, body: unknown) =>
      ask(ui.address, path, { method: "POST", headers, body: JSON.stringify(body) });
    const environment = loadEnvironment(root, "tiny");
    const seen: string[] = [];
    const run = async (action: unknown) => {
      const plan = await post("/api/environments/tiny/plan", { action });
      const begun = await post("/api/environments/tiny/operations", { action, confirm: "tiny" });
      expect([plan.status, begun.status, begun.body]).toMatchObject([200, 202, expect.any(String)]);
      seen.push(plan.body, begun.body);
      const { id } = JSON.parse(begun.body) as { id: string };
      await expect.poll(() => stateOf(id), { timeout: 100_000, interval: 1_000 }).toMatch(/done|failed/);
      expect(await stateOf(id)).toBe("done");
    };
    const stateOf = async (id: string) => {
      const { body } = await ask(ui.address, "/api/events", { headers: { cookie }, patience: 150 });
      seen.push(body);
      const data = /^data: (.*)$/m.exec(body)?.[1] ?? "{}";
      const { operations = [] } = JSON.parse(data) as { operations?: readonly { id: string; state: string }[] };
      return operations.find((operation) => operation.id === id)?.state ?? "";
    };
    await run({ kind: "apply" });
    await run({ kind: "backup" });
    await run({ kind: "reboot", machine: "tiny-cp-1" });
    // What is not ours to choose, such as the config, is made to differ, so that there is a diff to show.
    writeFileSync(
      join(root, "environments/tiny.yaml"),
      "cluster: { domain: other.local }\ninfrastructure: { kind: simulated }\ncontrolPlane: { count: 1 }\nworkers: []\nbackup: { directory: backups }\n",
    );
    const machine = "/api/environments/tiny/machines/tiny-cp-1";
    const detail = await ask(ui.address, machine, { headers: { cookie } });
    expect(JSON.parse(detail.body)).toMatchObject({ problem: null, config: expect.stringContaining("******") });
    expect((JSON.parse(detail.body) as { changes: unknown[] }).changes).not.toEqual([]);
    seen.push(
      detail.body,
      (await ask(ui.address, "/api/environments/tiny/topology.svg", { headers: { cookie } })).body,
    );
    const services = ["apid", "etcd", "kubelet", "machined", "trustd"].map((service) => `${machine}/logs/${service}`);
    const streams = ["/api/events", `${machine}/events`, ...services];
    const heard = await Promise.all(
      streams.map((path, index) =>
        ask(ui.address, path, { headers: { cookie }, until: index === 0 ? "event: overview" : "event: lines" }),
      ),
    );
    expect(heard.map(({ status }) => status)).toEqual(streams.map(() => 200));
    expect(streams.filter((_, index) => !heard[index]?.body.match(/event: (lines|overview)/))).toEqual([]);
    seen.push(...heard.map(({ body }) => body));
    seen.push((await ask(ui.address, "/api/environments/tiny/machines/nobody", { headers: { cookie } })).body);

    const opened = await project.openCluster(environment);
    const { cluster, secrets, trustdInfo, certs } = opened?.secrets ?? expect.unreachable("the cluster is not there");
    const keys = [certs.os, certs.etcd, certs.k8s, certs.k8sAggregator, certs.k8sServiceAccount].map(({ key }) => key);
    const inLines = keys.flatMap((key) => key.split("\n").filter((line) => line.length > 20 && !line.startsWith("-")));
    const encoded = keys.map((key) => Buffer.from(key).toString("base64"));
    const canaries = [cluster.secret, ...Object.values(secrets), trustdInfo.token, ...inLines, ...encoded];
    expect(canaries.length).toBeGreaterThan(12);
    const said = seen.join("\n");
    expect(said.length).toBeGreaterThan(10_000);
    expect(canaries.filter((canary) => said.includes(canary))).toEqual([]);
    expect(said).not.toMatch(/PRIVATE KEY/);
  });

  test("an action of the page waits for the windows of the environment's rollout, as a command does", async () => {
    const { rollout, ...rest } = loadEnvironment(root, "tiny");
    const windows = [{ schedule: "0 3 29 2 *", duration: 60_000, timeZone: "UTC" }];
    const environment = { ...rest, rollout: { ...rollout, windows } };
    const { signal } = new AbortController();
    const action = { kind: "reboot", machine: "tiny-cp-1" } as const;
    const { steps } = await project.plan(environment, action, signal);
    expect(steps[0]?.sentence).toBe("start tiny-cp-1 only when a maintenance window is open");
    await expect(project.perform(environment, action, () => {}, signal)).rejects.toThrow(
      "outside of the maintenance windows nothing is begun on tiny-cp-1",
    );
    expect((await project.observe(environment, signal)).closed?.opens).toBeInstanceOf(Date);
  });
});
