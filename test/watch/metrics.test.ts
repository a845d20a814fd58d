// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseEnvironment } from "../../model/index.ts";
import {
  collect,
  definitions,
  expose,
  findingsOf,
  metricsPage,
  type RunningServer,
  StatusRecord,
  serveOperator,
  withTransitions,
} from "../../watch/index.ts";
import { observedLab, stepFor, unreachable } from "./observations.ts";

const now = new Date("2026-11-16T12:00:00Z");
const queues = new Map([["TalosCluster", { depth: 1, working: 2, added: 3, retried: 4 }]]);
const facts = { version: "0.1.0", residentBytes: 1000, startedAt: 5000, cpuSeconds: 1.5, queues };
const observation = observedLab(
  { "cp-3": unreachable },
  { steps: [stepFor("w-1")], backup: { last: "lab-1", ageSeconds: 60, bytes: 4096 } },
);

function filledBook(): StatusRecord {
  const record = new StatusRecord();
  const file = "infrastructure: { kind: simulated }\ncontrolPlane: { count: 1 }\n";
  const environment = parseEnvironment("lab", (path) => (path === "environments/lab.yaml" ? file : undefined));
  const conditions = withTransitions(findingsOf(observation, now), undefined, now);
  record.leading = true;
  const observed = { environment, observation, conditions, at: now, transitions: [] };
  record.note("lab", { environment, observed, nextBackup: now.getTime() + 1000 });
  for (const milliseconds of [50, 700, 20_000, 1e9]) record.time("lab", "look", "success", milliseconds);
  return record;
}

describe("the metrics", () => {
  const text = expose(definitions, collect(filledBook(), facts));
  const lines = text.split("\n");

  test.each([
    'talosmith_build_info{version="0.1.0"} 1',
    "talosmith_leader 1",
    'talosmith_machine_ready{environment="lab",machine="cp-1",role="controlplane"} 1',
    'talosmith_machine_reachable{environment="lab",machine="cp-3",role="controlplane"} 0',
    'talosmith_etcd_members{environment="lab"} 3',
    'talosmith_etcd_healthy_members{environment="lab"} 2',
    'talosmith_etcd_quorum_members{environment="lab"} 2',
    'talosmith_etcd_has_quorum{environment="lab"} 1',
    'talosmith_drift_steps{environment="lab"} 1',
    'talosmith_backup_age_seconds{environment="lab"} 60',
    'talosmith_backup_size_bytes{environment="lab"} 4096',
    'talosmith_certificate_expiry_timestamp_seconds{environment="lab",certificate="kubeconfig"} 1826366400',
    'talosmith_cluster_condition{environment="lab",type="EtcdHealthy",status="False"} 1',
    'talosmith_cluster_condition{environment="lab",type="EtcdHealthy",status="True"} 0',
    'talosmith_operation_duration_seconds_bucket{environment="lab",operation="look",outcome="success",le="1"} 2',
    'talosmith_operation_duration_seconds_bucket{environment="lab",operation="look",outcome="success",le="+Inf"} 4',
    'talosmith_operation_duration_seconds_count{environment="lab",operation="look",outcome="success"} 4',
    'talosmith_operation_duration_seconds_sum{environment="lab",operation="look",outcome="success"} 1000020.75',
  ])("have %s", (line) => {
    expect(lines).toContain(line);
  });

  test("are all defined, with exactly their labels, and all definitions are used", () => {
    const samples = collect(filledBook(), facts);
    for (const { metric, labels } of samples) {
      const definition = definitions.find(({ name }) => name === metric);
      expect(Object.keys(labels).filter((label) => label !== "le")).toEqual(definition?.labels);
    }
    expect(new Set(samples.map(({ metric }) => metric))).toEqual(new Set(definitions.map(({ name }) => name)));
  });

  test("keep to the text format: each line is a comment or a sample, and values are escaped", () => {
    const sample = /^[a-z_]+(\{[a-z_]+="([^"\\\n]|\\[\\n"])*"(,[a-z_]+="([^"\\\n]|\\[\\n"])*")*\})? -?[0-9.e+]+$/;
    for (const line of lines.slice(0, -1)) expect(line.startsWith("# ") || sample.test(line)).toBe(true);
    const [definition] = definitions;
    const odd = expose([definition], [{ metric: definition.name, labels: { version: 'a"b\\c\nd' }, value: 1 }]);
    expect(odd).toContain('{version="a\\"b\\\\c\\nd"} 1\n');
  });

  test("docs/metrics.md is made from them", () => {
    const page = readFileSync("docs/metrics.md", "utf8");
    expect(page === metricsPage(definitions) ? "" : "stale: run npm run generate:metrics").toBe("");
    for (const [name] of page.matchAll(/talosmith_[a-z_]+/g))
      expect(definitions.map((definition) => definition.name)).toContain(name);
  });
});

describe("the operator's server", () => {
  const record = new StatusRecord();
  let server: RunningServer;
  beforeAll(async () => {
    server = await serveOperator({ host: "127.0.0.1", port: 0, record, facts: () => facts });
  });
  afterAll(() => server.close());
  const get = async (path: string, method = "GET") => {
    const response = await fetch(`${server.address}${path}`, { method });
    return { status: response.status, type: response.headers.get("content-type"), text: await response.text() };
  };

  test("gives the metrics in the form that Prometheus asks for", async () => {
    const { status, type, text } = await get("/metrics");
    expect([status, type]).toEqual([200, "text/plain; version=0.0.4; charset=utf-8"]);
    expect(text).toContain("talosmith_leader 0\n");
  });

  test("is alive, and ready when it stands by or has looked at everything", async () => {
    expect(await get("/healthz")).toMatchObject({ status: 200, text: "ok\n" });
    expect((await get("/readyz")).status).toBe(200);
    record.leading = true;
    record.note("lab", {});
    expect(await get("/readyz")).toMatchObject({ status: 503, text: "not checked yet: lab\n" });
    record.note("lab", { tried: true });
    expect((await get("/readyz")).status).toBe(200);
  });

  test("says of a port that is taken which one it is, and how to take another", async () => {
    const port = Number(new URL(server.address).port);
    await expect(serveOperator({ host: "127.0.0.1", port, record, facts: () => facts })).rejects.toMatchObject({
      message: `cannot serve metrics on 127.0.0.1:${port}: another program has that port, perhaps another operate`,
      hint: expect.stringContaining("--listen"),
    });
  });

  test("does nothing else", async () => {
    expect((await get("/")).status).toBe(404);
    expect((await get("/metrics", "POST")).status).toBe(405);
  });
});
