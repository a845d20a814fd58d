// SPDX-License-Identifier: Apache-2.0
import { spawn } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  breakLock,
  type ClusterEvent,
  destroyCluster,
  type Journal,
  type JournalEntry,
  journalFile,
  lockFileFor,
  lockState,
  withLock,
} from "../../engine/index.ts";
import { LeaseKeeper } from "../../engine/lock/lease.ts";
import type { LeaseHolder } from "../../engine/machines.ts";
import { defaultPolicy } from "../../engine/policy.ts";
import { TalosError } from "../../talos/errors.ts";
import { everything } from "../support/everything.ts";
import { lab, testSecrets, wish } from "./fixture.ts";
import { VirtualTiming } from "./virtual-timing.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "talosmith-lock-"));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

describe("the lock of a cluster", () => {
  test("lets runs of one process follow each other and leaves nothing behind", async () => {
    const desired = wish();
    const { world, apply } = lab(desired);
    const lockFile = join(directory, "cluster.lock");
    const order: string[] = [];
    const run = (name: string) =>
      apply(desired, {
        lockFile,
        events: ({ type, message }: ClusterEvent) => {
          if (type === "observed" || type === "healthy") order.push(`${name} ${type}`);
          if (message.startsWith("waits for")) order.push(`${name} ${message}`);
        },
      });
    const [first, second] = await Promise.all([run("first"), run("second")]);
    expect(first.steps.length).toBeGreaterThan(0);
    expect(second.steps).toEqual([]);
    expect(order).toEqual([
      "second waits for its turn on this cluster, behind: apply the desired configuration",
      "first observed",
      "first observed",
      "first healthy",
      "second observed",
      "second healthy",
    ]);
    expect(world.bootstraps).toBe(1);
    expect(await readdir(directory)).toEqual([]);
  });

  test("of a living process is an error that names it, before anything is done", async () => {
    const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
    try {
      await once(child, "spawn");
      const lockFile = join(directory, "cluster.lock");
      const fields = (await readFile(`/proc/${child.pid}/stat`, "utf8")).split(") ")[1]?.split(" ") ?? [];
      const boot = (await readFile("/proc/sys/kernel/random/boot_id", "utf8")).trim();
      await writeFile(
        lockFile,
        JSON.stringify({ pid: child.pid, boot, started: fields[19], since: "2026-01-01T00:00:00Z" }),
      );
      const desired = wish();
      const { world, apply } = lab(desired);
      await expect(apply(desired, { lockFile })).rejects.toMatchObject({
        code: "conflict",
        message: `another run works on this cluster: process ${child.pid}, since 2026-01-01T00:00:00Z`,
      });
      expect(world.log).toEqual([]);
    } finally {
      child.kill("SIGKILL");
    }
  });

  test.each([
    ["that died", { pid: 2 ** 22 - 1, boot: "another", started: "1" }],
    ["whose number another process has now", { pid: process.pid, boot: "another", started: "1" }],
  ])("of a process %s is taken over", async (_name, holder) => {
    const lockFile = join(directory, "cluster.lock");
    await writeFile(lockFile, JSON.stringify({ ...holder, since: "2026-01-01T00:00:00Z" }));
    const desired = wish();
    await lab(desired).apply(desired, { lockFile });
    expect(existsSync(lockFile)).toBe(false);
  });

  test("of a process that died is taken over also from one that died while it took it over", async () => {
    const lockFile = join(directory, "cluster.lock");
    const dead = JSON.stringify({ pid: 2 ** 22 - 1, boot: "another", started: "1", since: "2026-01-01T00:00:00Z" });
    await writeFile(lockFile, dead);
    const leave = createHash("sha256").update(dead).digest("hex").slice(0, 16);
    await writeFile(`${lockFile}.${leave}`, dead.replace("2026-01-01", "2026-01-02"));
    expect(await withLock(lockFile, { what: "test" }, async () => "alone")).toBe("alone");
    expect(await readdir(directory)).toEqual([]);
  });

  test.skipIf(!everything)("is never had by two processes, however many find a dead one's", async () => {
    // Where there is one, a disk in memory: on others most of the time goes into waiting for it.
    const folder = await mkdtemp(join(existsSync("/dev/shm") ? "/dev/shm" : directory, "talosmith-lock-"));
    try {
      const ends = Array.from({ length: 4 }, async () => {
        const program = join(import.meta.dirname, "lock-process.ts");
        const args = ["--import", "tsx", program, join(folder, "lock"), join(folder, "marker"), "4000"];
        const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
        let held = "";
        child.stdout.on("data", (chunk) => {
          held += chunk;
        });
        const [code] = await once(child, "close");
        return { code, held: Number(held) };
      });
      for (const { code, held } of await Promise.all(ends)) {
        expect(code).toBe(0);
        expect(held).toBeGreaterThan(0);
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

describe("locks of several clusters", () => {
  test("are taken and given back at the same time, and nothing is left of them", async () => {
    const files = Array.from({ length: 4 }, () => lockFileFor(randomUUID()));
    const runs = files.map(async (file) => {
      for (let round = 0; round < 40; round++) await withLock(file, { what: "test" }, async () => {});
    });
    await Promise.all(runs);
    expect(files.filter((file) => existsSync(file))).toEqual([]);
  });
});

describe("the lease in Kubernetes", () => {
  test("of a run on another computer stops ours before its first change, until it has run out", async () => {
    const before = wish();
    const { world, timing, apply } = lab(before);
    await apply(before);
    expect(world.lease).toBeUndefined();
    world.log.length = 0;
    world.lease = { place: "elsewhere/1234/0", renewed: timing.now() };
    await expect(apply(wish({ sysctl: "2" }))).rejects.toMatchObject({
      code: "conflict",
      message: "another run works on this cluster: elsewhere/1234/0",
    });
    expect(world.log).toEqual([]);
    await timing.sleep(61_000);
    expect((await apply(wish({ sysctl: "2" }))).steps.length).toBeGreaterThan(0);
  });

  test("is taken over at once only by runs that the same lock file keeps apart", async () => {
    const before = wish();
    const { world, apply } = lab(before);
    await apply(before);
    let sysctl = 1;
    const placeOf = async (lockFile: string) => {
      const places = new Set<string>();
      const events = () => {
        if (world.lease !== undefined) places.add(world.lease.place);
      };
      sysctl++;
      await apply(wish({ sysctl: String(sysctl) }), { lockFile, events });
      expect(places.size).toBe(1);
      return [...places][0];
    };
    const [here, elsewhere] = [join(directory, "cluster.lock"), join(directory, "tmp", "cluster.lock")];
    await mkdir(join(directory, "tmp"));
    const place = await placeOf(here);
    expect(await placeOf(here)).toBe(place);
    expect(await placeOf(elsewhere)).not.toBe(place);
  });

  test("is given back by a run that is stopped before it hears that it got it", async () => {
    const before = wish();
    const { world, apply } = lab(before);
    await apply(before);
    const stop = new AbortController();
    const port = world.port();
    const kubernetes = {
      ...port.kubernetes,
      takeLease: async (holder: LeaseHolder, signal?: AbortSignal) => {
        await port.kubernetes.takeLease(holder, signal);
        stop.abort();
        throw new TalosError("unavailable", "the connection was lost");
      },
    };
    await expect(
      apply(wish({ sysctl: "2" }), { signal: stop.signal, machines: { ...port, kubernetes } }),
    ).rejects.toThrow();
    expect(world.lease).toBeUndefined();
  });
});

describe("keeping the lease", () => {
  test("what it waits for is told as an event of the run", async () => {
    const before = wish();
    const { world, apply } = lab(before);
    await apply(before);
    const port = world.port();
    const kubernetes: typeof port.kubernetes = {
      ...port.kubernetes,
      takeLease: async (holder, signal, watching) => {
        watching?.("another run is watched");
        return port.kubernetes.takeLease(holder, signal);
      },
    };
    const told: string[] = [];
    const events = ({ type, message }: { type: string; message: string }) => told.push(`${type}: ${message}`);
    await apply(wish({ sysctl: "2" }), { machines: { ...port, kubernetes }, events });
    expect(told).toContain("waiting: another run is watched");
  });

  test("a renewal that is refused ends nothing by itself: the next step asks again and tells", async () => {
    const timing = new VirtualTiming();
    const { world } = lab(wish());
    let refused = false;
    let released = false;
    const keeper = new LeaseKeeper(
      {
        ...world.port().kubernetes,
        takeLease: async () => {
          if (refused) throw new TalosError("failed-precondition", "its certificate has expired");
          return undefined;
        },
        releaseLease: async () => {
          released = true;
        },
      },
      timing,
      { place: "here", run: "1" },
    );
    await keeper.ensure();
    refused = true;
    await timing.sleep(70_000);
    await expect(keeper.ensure()).rejects.toThrow("its certificate has expired");
    await keeper.release(true);
    expect(released).toBe(true);
  });

  test("a run that is stopped does not wait for the answer, and gives back what it may have got", async () => {
    const stop = new AbortController();
    const heard: string[] = [];
    const keeper = new LeaseKeeper(
      {
        ...lab(wish()).world.port().kubernetes,
        takeLease: async (_holder, signal) => {
          stop.abort();
          await new Promise((resolve) => signal?.addEventListener("abort", resolve, { once: true }));
          heard.push("taken");
          return undefined;
        },
        releaseLease: async () => {
          heard.push("given back");
        },
      },
      new VirtualTiming(),
      { place: "here", run: "1" },
    );
    await expect(keeper.ensure(stop.signal)).rejects.toMatchObject({ code: "canceled" });
    await keeper.release(true);
    expect(heard).toEqual(["taken", "given back"]);
  });
});

describe("unlocking a cluster", () => {
  const dead = { pid: 2 ** 22 - 1, boot: "another", started: "1", since: "2026-01-01T00:00:00Z" };

  test("shows who holds it, here and elsewhere, and takes both locks away", async () => {
    const desired = wish();
    const { world, timing, apply } = lab(desired);
    await apply(desired);
    const lockFile = join(directory, "cluster.lock");
    const options = { desired, secrets: testSecrets(), machines: world.port(), timing, lockFile };
    expect(await lockState(options)).toEqual({});
    await writeFile(lockFile, JSON.stringify(dead));
    world.lease = { place: "elsewhere/1234/0", renewed: timing.now() };
    expect(await lockState(options)).toEqual({
      local: { pid: dead.pid, since: dead.since, alive: false },
      lease: { holder: "elsewhere/1234/0", renewed: expect.any(String), expired: false },
    });
    await breakLock(options);
    expect(await lockState(options)).toEqual({});
    expect((await apply(wish({ sysctl: "2" }))).steps.length).toBeGreaterThan(0);
  });

  test("refuses to take it from a process that is alive here", async () => {
    const desired = wish();
    const { world, timing, apply } = lab(desired);
    await apply(desired);
    const lockFile = join(directory, "cluster.lock");
    const own = await readFile("/proc/self/stat", "utf8");
    const started = own.slice(own.lastIndexOf(")") + 2).split(" ")[19];
    const boot = (await readFile("/proc/sys/kernel/random/boot_id", "utf8")).trim();
    await writeFile(lockFile, JSON.stringify({ ...dead, pid: process.pid, boot, started }));
    const options = { desired, secrets: testSecrets(), machines: world.port(), timing, lockFile };
    await expect(breakLock(options)).rejects.toMatchObject({
      code: "conflict",
      hint: expect.stringContaining(`kill ${process.pid}`),
    });
    expect(existsSync(lockFile)).toBe(true);
  });

  test("says so when the cluster cannot be asked", async () => {
    const desired = wish();
    const { world, timing } = lab(desired);
    const port = world.port();
    const kubernetes = {
      ...port.kubernetes,
      readLease: async () => Promise.reject(new TalosError("unavailable", "connection refused")),
    };
    const machines = { ...port, kubernetes };
    const options = { desired, secrets: testSecrets(), machines, timing, lockFile: join(directory, "none") };
    expect(await lockState(options)).toEqual({ leaseUnknown: "connection refused" });
  });
});

describe("the journal", () => {
  test("holds what was done, is readable by its owner only and survives a torn last line", async () => {
    const path = join(directory, "new", "journal.ndjson");
    const journal = journalFile(path);
    const desired = wish({ controlPlanes: ["cp-1"], workers: [] });
    await lab(desired).apply(desired, { journal });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const entries = await journal.entries();
    expect(entries.map(({ step, event }) => `${event} ${step}`)).toEqual([
      "begun apply-config/cp-1",
      "finished apply-config/cp-1",
      "begun bootstrap-etcd/cp-1",
      "finished bootstrap-etcd/cp-1",
    ]);
    await appendFile(path, '{"at":"2026');
    expect(await journal.entries()).toEqual(entries);
    await appendFile(path, "\nmore\n");
    await expect(journal.entries()).rejects.toMatchObject({
      code: "invalid-input",
      message: expect.stringContaining(":5: not an entry"),
    });
    expect(await readdir(directory)).toEqual(["new"]);
  });

  test("goes on after a line that a full disk has cut off", async () => {
    const path = join(directory, "journal.ndjson");
    const journal = journalFile(path);
    const entry = (step: string): JournalEntry => ({ at: "2026-01-01T00:00:00Z", cluster: "ca", step, event: "begun" });
    await journal.append(entry("reset/w-1"));
    await appendFile(path, '{"at":"2026');
    await journal.append(entry("reset/w-2"));
    expect(await journal.entries()).toEqual([entry("reset/w-1"), entry("reset/w-2")]);
  });

  test("that cannot be written or read is named", async () => {
    await writeFile(join(directory, "file"), "");
    const path = join(directory, "file", "journal.ndjson");
    const journal = journalFile(path);
    const entry: JournalEntry = { at: "2026-01-01T00:00:00Z", cluster: "ca", step: "reset/w-1", event: "begun" };
    await expect(journal.append(entry)).rejects.toMatchObject({
      code: "failed-precondition",
      message: expect.stringContaining(`write ${path}: `),
    });
    await expect(journal.entries()).rejects.toMatchObject({
      code: "failed-precondition",
      message: `open ${path}: not a directory`,
    });
  });

  test("that cannot be written does not hide why a step failed", async () => {
    const desired = wish({ controlPlanes: ["cp-1"], workers: [] });
    const { world, apply } = lab(desired);
    const machines = { ...world.port(), install: () => Promise.reject(new TalosError("invalid-input", "bad config")) };
    const full: Journal = {
      append: ({ event }) =>
        event === "failed" ? Promise.reject(new TalosError("failed-precondition", "disk full")) : Promise.resolve(),
      entries: async () => [],
    };
    await expect(apply(desired, { machines, journal: full })).rejects.toThrow("bad config");
  });

  test("tells a wiped machine that boots nothing from one that is cut off", async () => {
    const desired = wish({ workers: ["w-1"] });
    const { world, timing, apply } = lab(desired);
    await apply(desired);
    world.destroying = true;
    // In memory: the time of this world would run away while a real disk is written to.
    const entries: JournalEntry[] = [
      { at: "2026-01-01T00:00:00Z", cluster: desired.caFingerprint, step: "reset/cp-2", event: "accepted" },
      // The run was stopped, because another machine's step failed; the wipe went on.
      { at: "2026-01-01T00:00:01Z", cluster: desired.caFingerprint, step: "reset/cp-2", event: "failed" },
    ];
    const journal: Journal = {
      append: async (entry) => {
        entries.push(entry);
      },
      entries: async () => entries,
    };
    world.lose("cp-2");
    world.lose("w-1");
    const result = await destroyCluster({
      desired,
      secrets: testSecrets(),
      policy: defaultPolicy,
      machines: world.port(),
      timing,
      journal,
    });
    expect(result.unreachable).toEqual(["w-1"]);
  });
});
