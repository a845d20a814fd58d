// SPDX-License-Identifier: Apache-2.0
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Board } from "../../cli/output/board.ts";
import {
  checkSnapshot,
  type Machines,
  planRestore,
  previewRestore,
  restoreCluster,
  type ToldEvent,
} from "../../engine/index.ts";
import { defaultPolicy } from "../../engine/policy.ts";
import { TalosError } from "../../talos/errors.ts";
import { lab, testSecrets, wish } from "./fixture.ts";
import { killingPort } from "./killing-port.ts";
import { journal } from "./operations.ts";
import { snapshotChunks } from "./world-machines.ts";

let directory: string;
let path: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "talosmith-snapshot-"));
  path = join(directory, "etcd.db");
});
afterEach(() => rm(directory, { recursive: true, force: true }));

describe("a snapshot of etcd", () => {
  test.each([
    ["cut off", (whole: Buffer) => whole.subarray(0, -512)],
    ["changed", (whole: Buffer) => Buffer.concat([Buffer.from("x"), whole.subarray(1)])],
    ["without its hash", (whole: Buffer) => whole.subarray(0, -32)],
    ["empty", () => Buffer.alloc(0)],
  ])("that is %s is refused", async (_name, spoil) => {
    await writeFile(path, spoil(Buffer.concat(snapshotChunks("etcd"))));
    await expect(checkSnapshot(path)).rejects.toMatchObject({ code: "failed-precondition" });
  });
});

describe("a cluster that lost its etcd", () => {
  test("is not touched while members still have data, unless told so", async () => {
    const desired = wish();
    const { world, timing, apply } = lab(desired);
    await apply(desired);
    world.log.length = 0;
    await writeFile(path, Buffer.concat(snapshotChunks("etcd of old")));
    const options = {
      desired,
      secrets: testSecrets(),
      policy: defaultPolicy,
      machines: world.port(),
      timing,
      snapshot: path,
    };
    await expect(restoreCluster(options)).rejects.toMatchObject({
      code: "failed-precondition",
      message: "cp-1, cp-2, cp-3 still have etcd data",
    });
    expect(world.log).toEqual([]);
  });

  test("throws old data away on all control planes before it starts from the snapshot on one", async () => {
    const desired = wish();
    const { world, apply } = lab(desired);
    await apply(desired);
    world.replace("cp-2");
    const observed = await (await import("../../engine/index.ts")).observe(desired, {
      machines: world.port(),
    });
    const steps = planRestore(desired, observed, { snapshot: path, discardData: true }, defaultPolicy);
    expect(steps.map(({ id }) => id)).toEqual([
      "wipe-etcd/cp-1",
      "wipe-etcd/cp-3",
      "apply-config/cp-2",
      "restore-etcd/cp-1",
      ...desired.machines.flatMap(({ name, role }) => [
        ...(role === "controlplane" ? [`join-etcd/${name}`] : []),
        `join-kubernetes/${name}`,
      ]),
    ]);
    expect(steps[3]?.after).toEqual(["wipe-etcd/cp-1", "wipe-etcd/cp-3", "apply-config/cp-2"]);
  });

  test("is restored, not called so, after a restore that was stopped before it gave the snapshot to a machine", async () => {
    const desired = wish();
    const { world, timing, apply } = lab(desired);
    await apply(desired);
    await writeFile(path, Buffer.concat(snapshotChunks("etcd of old")));
    const kept = journal();
    const options = { desired, secrets: testSecrets(), policy: defaultPolicy, timing, snapshot: path, journal: kept };
    const killed = killingPort(world.port(), { deed: 0, when: "after" });
    await expect(restoreCluster({ ...options, machines: killed.port, discardData: true })).rejects.toThrow("killed");
    expect(killed.begun).toEqual([expect.stringMatching(/^wipeData /)]);
    await expect(restoreCluster({ ...options, machines: world.port() })).rejects.toThrow("still have etcd data");
  });

  test("keeps its data when the machine that would get the snapshot cannot be used", async () => {
    const desired = wish();
    const { world, timing, apply } = lab(desired);
    await apply(desired);
    world.log.length = 0;
    await writeFile(path, Buffer.concat(snapshotChunks("etcd of old")));
    const machines = world.port();
    const inspect: typeof machines.inspect = async (target, signal) =>
      target.name === "cp-1" ? { kind: "foreign", reason: "another CA" } : machines.inspect(target, signal);
    const options = {
      desired,
      secrets: testSecrets(),
      policy: defaultPolicy,
      timing,
      snapshot: path,
      discardData: true,
    };
    await expect(restoreCluster({ ...options, machines: { ...machines, inspect } })).rejects.toThrow(
      "cp-1, which starts etcd from the snapshot, cannot be used: another CA",
    );
    expect(world.log).toEqual([]);
  });

  test("comes back from the snapshot with all its machines", async () => {
    const desired = wish();
    const { world, timing, apply } = lab(desired);
    await apply(desired);
    for (const name of ["cp-1", "cp-2", "cp-3"]) world.replace(name);
    await writeFile(path, Buffer.concat(snapshotChunks("etcd of old")));
    const machines = world.port();
    // The real file is read at once: in this world's time nothing may sleep meanwhile.
    const restore: typeof machines.restore = (target) => machines.restore(target, inMemory("etcd of old"));
    const result = await restoreCluster({
      desired,
      secrets: testSecrets(),
      policy: defaultPolicy,
      machines: { ...machines, restore },
      timing,
      snapshot: path,
    });
    expect(result.steps.map(({ id }) => id)).toContain("restore-etcd/cp-1");
    expect(world.log).toContain("restore cp-1 etcd of old\0");
    expect(world.violations).toEqual([]);
    expect((await apply(desired)).steps).toEqual([]);
  });

  test("has all its steps in the first plan, so that the count goes from start to end, workers without config included", async () => {
    const desired = wish();
    const { world, timing, apply } = lab(desired);
    await apply(desired);
    for (const { name } of desired.machines) world.replace(name);
    await writeFile(path, Buffer.concat(snapshotChunks("etcd of old")));
    const port = world.port();
    const machines: Machines = { ...port, restore: (target) => port.restore(target, inMemory("etcd of old")) };
    const options = { desired, secrets: testSecrets(), policy: defaultPolicy, machines, timing, snapshot: path };
    const { steps, coming } = await previewRestore(options);
    const told: ToldEvent[] = [];
    const done = await restoreCluster({ ...options, events: (event) => told.push(event) });
    expect(coming).toBe(0);
    expect(done.steps.map(({ id }) => id)).toEqual(steps.map(({ id }) => id));
    const board = new Board("lab", 0);
    const counters = told.map((event) => {
      board.note(event, 0);
      return board.counter;
    });
    const counted = counters.filter((counter) => counter !== "");
    expect(new Set(counted.map((counter) => counter.split("/")[1]))).toEqual(new Set([String(steps.length)]));
    expect(counted.at(-1)).toBe(`${steps.length}/${steps.length}`);
  });

  test("comes back also where the answer to its start is lost and etcd takes its time", async () => {
    const desired = wish();
    const { world, timing, apply } = lab(desired);
    await apply(desired);
    for (const name of ["cp-1", "cp-2", "cp-3"]) world.replace(name);
    await writeFile(path, Buffer.concat(snapshotChunks("etcd of old")));
    const port = world.port();
    let startedAt = Number.POSITIVE_INFINITY;
    const machines: Machines = {
      ...port,
      restore: async (target) => {
        await port.restore(target, inMemory("etcd of old"));
        startedAt = timing.elapsed();
        throw new TalosError("unavailable", `${target.name}: the connection was cut`);
      },
      inspect: async (target, signal) => {
        const state = await port.inspect(target, signal);
        const starting = timing.elapsed() - startedAt < 3_000 && timing.elapsed() >= startedAt;
        if (!starting || state.kind !== "configured" || state.etcd?.state !== "running") return state;
        return { ...state, etcd: { state: "down", healthy: false, members: [] } };
      },
    };
    await restoreCluster({ desired, secrets: testSecrets(), policy: defaultPolicy, machines, timing, snapshot: path });
    expect(world.violations).toEqual([]);
    expect((await apply(desired)).steps).toEqual([]);
  });
});

async function* inMemory(text: string): AsyncIterable<Uint8Array> {
  yield* snapshotChunks(text);
}
