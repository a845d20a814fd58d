// SPDX-License-Identifier: Apache-2.0
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { gateName } from "../../engine/execute/gate-check.ts";
import {
  type ApplyOptions,
  defaultPolicy,
  gateCheck,
  type Journal,
  type JournalEntry,
  observe,
  type Policy,
  plan,
} from "../../engine/index.ts";
import { pidExists } from "../../talos/living-process.ts";
import { type Lab, lab, type Wish, wish } from "./fixture.ts";
import { killingPort } from "./killing-port.ts";

const hour = 3_600_000;
const workers = ["w-1", "w-2", "w-3", "w-4"];

/** A cluster that runs, and what was done to it since; the virtual clock begins on New Year 2026 at midnight UTC. */
async function running(options: Wish = { workers }): Promise<Lab & { readonly journal: Journal }> {
  const made = lab(wish(options));
  for (const machine of made.world.machines.values()) machine.version = options.talos ?? "v1.13.9";
  await made.apply(wish(options));
  made.world.log.length = 0;
  return { ...made, journal: memory() };
}

function memory(): Journal {
  const entries: JournalEntry[] = [];
  return { append: async (entry) => void entries.push(entry), entries: async () => entries };
}

/** Machines that were changed, in order. */
const changed = ({ world }: Lab) =>
  world.log
    .flatMap((line) => /^(?:config|upgrade) (\S+)/.exec(line)?.[1] ?? [])
    .filter((name, i, all) => all.indexOf(name) === i);

const away = ({ world }: Lab) => world.nodes().filter(({ ready, unschedulable }) => !ready || unschedulable);

describe("maintenance windows of a rollout", () => {
  const closed: Partial<Policy> = { windows: [{ schedule: "0 3 * * *", duration: hour, timeZone: "UTC" }] };

  test.each<[string, Wish, Wish]>([
    ["a change of the config", { workers }, { workers, file: "b" }],
    ["a change without a reboot", { workers }, { workers, sysctl: "2" }],
    ["a new Talos", { workers, talos: "v1.12.11", kubernetes: "1.35.4" }, { workers, kubernetes: "1.35.4" }],
    ["a new Kubernetes", { workers, kubernetes: "1.35.4" }, { workers }],
    ["a machine that is to leave", { workers }, { workers: workers.slice(1), leaving: ["w-1"] }],
  ])("outside of them nothing begins of %s, and it is said when the next opens", async (_, before, after) => {
    const made = await running(before);
    await expect(made.apply(wish(after), { policy: { ...defaultPolicy, ...closed } })).rejects.toMatchObject({
      code: "failed-precondition",
      message: expect.stringMatching(/outside of the maintenance windows .* opens at 2026-01-01T03:00:00\.000Z/),
    });
    expect(made.world.log).toEqual([]);
    await made.timing.sleep(Date.parse("2026-01-01T03:00:00Z") - made.timing.now());
    await made.apply(wish(after), { policy: { ...defaultPolicy, ...closed } });
    expect(made.world.log).not.toEqual([]);
  });

  test("that close in the middle let every machine that has begun come to its end, and no other begin", async () => {
    const made = await running();
    await made.apply(wish({ workers, file: "b" }), { policy: { ...defaultPolicy, maxUnavailable: 2 } });
    const took = made.timing.now();
    const shorter = await running();
    const start = shorter.timing.now();
    const windows = [
      { schedule: "0 0 * * *", duration: start - Date.parse("2026-01-01T00:00:00Z") + 20_000, timeZone: "UTC" },
    ];
    await expect(
      shorter.apply(wish({ workers, file: "b" }), { policy: { ...defaultPolicy, maxUnavailable: 2, windows } }),
    ).rejects.toMatchObject({ message: expect.stringContaining("2026-01-02T00:00:00.000Z") });
    expect(changed(shorter).length).toBeGreaterThan(0);
    expect(changed(shorter).length).toBeLessThan(7);
    expect(away(shorter)).toEqual([]);
    expect(took).toBeGreaterThan(start + 20_000);
  });

  test("do not keep a machine from its end that a killed run has left half done", async () => {
    const made = await running();
    const desired = wish({ workers, file: "b" });
    const port = killingPort(made.world.port(), { deed: 1, when: "after" });
    await expect(made.apply(desired, { machines: port.port })).rejects.toThrow();
    const half = away(made).map(({ name }) => name);
    expect(half).toHaveLength(1);
    await expect(made.apply(desired, { policy: { ...defaultPolicy, ...closed } })).rejects.toMatchObject({
      message: expect.stringContaining("03:00"),
    });
    expect(changed(made)).toEqual(half);
    expect(away(made)).toEqual([]);
  });

  test("let a new cluster come up at any time", async () => {
    const made = lab(wish());
    await made.apply(wish(), { policy: { ...defaultPolicy, ...closed } });
    expect(away(made)).toEqual([]);
  });
});

describe("gates of a rollout", () => {
  const gates: Policy["gates"] = [{ command: ["ask"], timeout: 60_000 }];

  test("are asked before each machine, by its name, and nothing is done to it before they pass", async () => {
    const made = await running();
    const asked: string[] = [];
    const checkGate: ApplyOptions["checkGate"] = async (_, { machine, cluster }) => {
      expect(changed(made)).not.toContain(machine);
      asked.push(`${cluster}/${machine}`);
      return asked.filter((other) => other.endsWith(machine)).length < 3 ? "not yet" : undefined;
    };
    await made.apply(wish({ workers, file: "b" }), { policy: { ...defaultPolicy, gates }, checkGate });
    expect(new Set(asked).size).toBe(7);
    expect(asked.length).toBe(21);
  });

  test("that stay shut stop the rollout there, with the reason, and leave every machine in service", async () => {
    const made = await running();
    const checkGate: ApplyOptions["checkGate"] = async (_, { machine }) =>
      machine === "w-2" ? "alerts fire" : undefined;
    await expect(
      made.apply(wish({ workers, file: "b" }), { policy: { ...defaultPolicy, gates, maxUnavailable: 2 }, checkGate }),
    ).rejects.toMatchObject({
      code: "deadline-exceeded",
      message: expect.stringMatching(/gate before w-2: .* ask: alerts fire/),
    });
    expect(changed(made)).not.toContain("w-2");
    expect(away(made)).toEqual([]);
  });

  test.each<[string, Wish]>([
    ["a change", { workers, file: "b" }],
    ["a machine that is to leave", { workers: workers.slice(1), leaving: ["w-1"] }],
  ])("are asked again after a drain that failed, which leaves the machine in service (%s)", async (_, after) => {
    const made = await running();
    made.world.stubborn.add("w-1");
    const stuck = made.apply(wish(after), { policy: { ...defaultPolicy, gates }, checkGate: async () => undefined });
    await expect(stuck).rejects.toThrow(/w-1.*a disruption budget keeps pod default\/w-1/);
    expect(away(made)).toEqual([]);
    made.world.log.length = 0;
    const shut = made.apply(wish(after), { policy: { ...defaultPolicy, gates }, checkGate: async () => "alerts fire" });
    await expect(shut).rejects.toThrow(/gate before w-1: .* ask: alerts fire/);
    expect(made.world.log).toEqual([]);
  });

  test("are told in the plan, before the first step of each machine", async () => {
    const made = await running();
    const desired = wish({ workers, file: "b" });
    const observed = await observe(desired, { machines: made.world.port() });
    const windows = [{ schedule: "0 3 * * *", duration: hour, timeZone: "UTC" }];
    const steps = plan(desired, observed, { ...defaultPolicy, gates, windows });
    expect(steps.filter(({ machine }) => machine === "w-1").map(({ sentence }) => sentence)[0]).toBe(
      "start w-1 only when a maintenance window is open and the gate passes",
    );
    expect(steps.filter(({ kind }) => kind === "gate")).toHaveLength(7);
    expect(plan(desired, observed, defaultPolicy).some(({ kind }) => kind === "gate")).toBe(false);
  });
});

describe("canaries of a rollout", () => {
  const canary = { machines: 2, soak: 0, afterwards: "stop" } as const;

  test("get the change first; the run stops after them, and the next one goes on to the end", async () => {
    const made = await running();
    const desired = wish({ workers, file: "b" });
    const options = { policy: { ...defaultPolicy, canary }, journal: made.journal };
    await expect(made.apply(desired, options)).rejects.toMatchObject({
      message: "stopped after cp-1, cp-2, as rollout.canary says",
    });
    expect(changed(made)).toEqual(["cp-1", "cp-2"]);
    expect(away(made)).toEqual([]);
    await made.apply(desired, options);
    expect(changed(made)).toHaveLength(7);
  });

  test("are asked for again by another change, and by the same one at another time", async () => {
    const made = await running();
    const options = { policy: { ...defaultPolicy, canary }, journal: made.journal };
    for (const file of ["b", "c", "b"]) {
      await expect(made.apply(wish({ workers, file }), options), file).rejects.toMatchObject({
        message: expect.stringContaining("stopped after"),
      });
      await made.apply(wish({ workers, file }), options);
    }
  });

  test("are watched for a time, and then the others follow by themselves", async () => {
    const made = await running();
    let first: number | undefined;
    await made.apply(wish({ workers, file: "b" }), {
      policy: { ...defaultPolicy, canary: { machines: 4, soak: hour, afterwards: "continue" } },
      journal: made.journal,
      events: ({ type, step }) => {
        if (type === "step-finished" && step?.kind === "pause") first = made.timing.now();
        if (type === "step-started" && step?.id === "drain/w-2") expect(first).toBeDefined();
      },
    });
    expect((first ?? 0) - Date.parse("2026-01-01T00:00:00Z")).toBeGreaterThan(hour);
    expect(changed(made)).toHaveLength(7);
  });

  test("of a new Kubernetes are the first workers whose kubelets get it", async () => {
    const made = await running({ workers, kubernetes: "1.35.4" });
    const steps: string[] = [];
    const attempt = made.apply(wish({ workers }), {
      policy: { ...defaultPolicy, canary: { ...canary, machines: 1 } },
      journal: made.journal,
      events: ({ type, step }) => type === "step-finished" && step !== undefined && steps.push(step.id),
    });
    await expect(attempt).rejects.toMatchObject({ message: expect.stringContaining("stopped after w-1") });
    expect(steps).toContain("upgrade-kubelet/w-1");
    expect(steps).not.toContain("upgrade-kubelet/w-2");
  });

  test("are none when nobody would be left after them", async () => {
    const made = await running();
    await made.apply(wish({ workers, file: "b" }), {
      policy: { ...defaultPolicy, canary: { ...canary, machines: 7 } },
    });
    expect(changed(made)).toHaveLength(7);
  });
});

describe("the real gates", () => {
  let folder: string;
  const server = createServer(({ url, headers }, response) => {
    const known = url === "/private" && headers.authorization === `Basic ${btoa("me:p@ss")}`;
    response.writeHead(url === "/well" || known ? 204 : 503).end();
  });
  let base: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "talosmith-gates-"));
    await writeFile(join(folder, "check.sh"), '#!/bin/sh\necho "$TALOSMITH_CLUSTER/$TALOSMITH_MACHINE" >&2\nexit 3\n', {
      mode: 0o755,
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    server.close();
    await rm(folder, { recursive: true, force: true });
  });
  const subject = { cluster: "lab", machine: "w-1" };
  const ask = (gate: Policy["gates"][number]) => gateCheck(folder)(gate, subject);
  const timeout = 5000;

  test("pass with exit code 0 and with 2xx", async () => {
    expect(await ask({ command: ["true"], timeout })).toBeUndefined();
    expect(await ask({ url: `${base}/well`, timeout })).toBeUndefined();
  });

  test("tell why they do not", async () => {
    expect(await ask({ command: ["./check.sh"], timeout })).toBe("exit code 3: lab/w-1");
    expect(await ask({ url: `${base}/ill`, timeout })).toBe("it answered 503 Service Unavailable");
    expect(await ask({ url: "http://127.0.0.1:1/", timeout })).toMatch(/^it does not answer: /);
    expect(await ask({ command: ["sleep", "20"], timeout: 200 })).toMatch(/^it did not end in time/);
  });

  test("go by their exit code, however much they say and whatever they leave behind", async () => {
    const talkative = "head -c 3000000 /dev/zero | tr '\\0' 'a'";
    expect(await ask({ command: ["sh", "-c", talkative], timeout })).toBeUndefined();
    expect(await ask({ command: ["sh", "-c", `${talkative}; echo; echo full; exit 4`], timeout })).toBe(
      "exit code 4: full",
    );
    expect(await ask({ command: ["sh", "-c", "sleep 3 & exit 0"], timeout: 1000 })).toBeUndefined();
    expect(await ask({ command: ["sh", "-c", "echo no; sleep 3 & exit 5"], timeout: 1000 })).toBe("exit code 5: no");
  });

  test("may need a name and a password, which no message repeats", async () => {
    const guarded = `${base.replace("//", "//me:p%40ss@")}/private`;
    expect(await ask({ url: guarded, timeout })).toBeUndefined();
    expect(await ask({ url: guarded.replace("private", "ill"), timeout })).toBe("it answered 503 Service Unavailable");
    expect(gateName({ url: `${guarded}?token=abc`, timeout })).toBe(`${base}/private`);
  });

  test("end with the run", async () => {
    const stop = new AbortController();
    const asked = gateCheck(folder)({ command: ["sleep", "20"], timeout }, subject, stop.signal);
    stop.abort();
    await expect(asked).rejects.toMatchObject({ code: "canceled" });
  });

  test.each(["out of time", "stopped"])("take what they have started with them when they are %s", async (end) => {
    const file = join(folder, `child-${end}`);
    const command = ["sh", "-c", `sh -c 'echo $$ > "${file}.new"; mv "${file}.new" "${file}"; sleep 60' & wait`];
    const stop = new AbortController();
    const asked = gateCheck(folder)(
      { command, timeout: end === "stopped" ? 60_000 : 2_000 },
      subject,
      stop.signal,
    ).catch(() => "stopped");
    await expect.poll(() => existsSync(file), { timeout: 30_000 }).toBe(true);
    if (end === "stopped") stop.abort();
    await asked;
    await expect.poll(() => pidExists(Number(readFileSync(file, "utf8"))), { timeout: 10_000 }).toBe(false);
  });

  test("that cannot be run at all are told at once", async () => {
    await expect(ask({ command: ["./nothing"], timeout })).rejects.toMatchObject({ code: "invalid-input" });
  });
});
