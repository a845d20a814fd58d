// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { parseEnvironment } from "../../model/index.ts";
import { TalosError } from "../../talos/errors.ts";
import {
  type ClusterObservation,
  ClusterWatcher,
  type Conditions,
  type Observed,
  watchAll,
} from "../../watch/index.ts";
import { VirtualTiming } from "../engine/virtual-timing.ts";
import { observedLab, stepFor } from "./observations.ts";

const second = 1_000;
const drifted = observedLab({}, { steps: [stepFor("w-1")] });
const lab = parseEnvironment("lab", (path) =>
  path === "environments/lab.yaml" ? "infrastructure: { kind: simulated }\ncontrolPlane: { count: 1 }\n" : undefined,
);

interface Scene {
  readonly observe?: (turn: number) => ClusterObservation;
  readonly written?: Conditions;
  readonly write?: () => Promise<void>;
  readonly lasts?: number;
  readonly during?: (timing: VirtualTiming, watcher: ClusterWatcher) => Promise<void>;
}

/** Watches for a minute of virtual time. */
async function watch({ observe = () => observedLab(), written, write, lasts = 60 * second, during }: Scene) {
  const timing = new VirtualTiming();
  const began = timing.elapsed();
  const stop = new AbortController();
  const seen: Observed[] = [];
  const times: number[] = [];
  const failures: string[] = [];
  const watcher = new ClusterWatcher("lab", {
    project: {
      load: () => lab,
      observe: async () => {
        times.push(timing.elapsed() - began);
        return observe(times.length);
      },
      readConditions: async () => written,
      writeConditions: async () => write?.(),
    },
    timing,
    pause: (_environment, failed) => (failed + 1) * 10 * second,
    listener: {
      observed: async (observed) => void seen.push(observed),
      failed: async ({ message }) => void failures.push(message),
    },
  });
  const running = watcher.run(stop.signal);
  await during?.(timing, watcher);
  await timing.sleep(lasts - (timing.elapsed() - began));
  stop.abort();
  await running;
  return { seen, times, failures };
}

const since = ({ conditions }: Observed, type: string) =>
  conditions.cluster.find((condition) => condition.type === type)?.lastTransitionTime;

describe("a watcher", () => {
  test("reports what has changed once, and since when", async () => {
    const { seen } = await watch({ observe: (turn) => (turn < 3 ? observedLab() : drifted) });
    const changed = seen.map(({ transitions }) => transitions.filter(({ from }) => from !== undefined));
    expect(changed.map((list) => list.map(({ condition, machine }) => `${machine ?? ""} ${condition.type}`))).toEqual([
      [],
      [],
      [" Drifted", "w-1 Drifted"],
      ...Array(seen.length - 3).fill([]),
    ]);
    expect(seen.map((one) => since(one, "Drifted")).slice(1, 4)).toEqual([
      "2026-01-01T00:00:00Z",
      "2026-01-01T00:00:20Z",
      "2026-01-01T00:00:20Z",
    ]);
  });

  test("goes on from the times that another process has written", async () => {
    const [first] = (await watch({})).seen;
    const cluster = first?.conditions.cluster.map((one) => ({ ...one, lastTransitionTime: "2025-12-24T18:00:00Z" }));
    const { seen } = await watch({ written: { cluster: cluster ?? [], machines: first?.conditions.machines ?? {} } });
    expect(seen.map((one) => since(one, "Ready"))).toEqual(seen.map(() => "2025-12-24T18:00:00Z"));
    expect(seen[0]?.transitions).toEqual([]);
  });

  test("observes at once when something was done", async () => {
    const { times } = await watch({
      lasts: 9 * second,
      during: async (timing, watcher) => {
        await timing.sleep(2 * second);
        watcher.refresh();
        await timing.sleep(2 * second);
        watcher.refresh();
      },
    });
    expect(times.map((at) => Math.round(at / second))).toEqual([0, 2, 4]);
  });

  test("keeps a cluster that cannot be observed apart from one that was, and waits longer", async () => {
    const { times, failures, seen } = await watch({
      observe: (turn) => {
        if (turn === 2 || turn === 3) throw new TalosError("unavailable", "no way");
        return observedLab();
      },
      lasts: 65 * second,
    });
    expect(failures).toEqual(["no way", "no way"]);
    expect(times.map((at) => Math.round(at / second))).toEqual([0, 10, 30, 60]);
    expect(seen).toHaveLength(2);
  });

  test("reports times that cannot be written, and shows the cluster all the same", async () => {
    const write = () => Promise.reject(new TalosError("unavailable", "the disk is full"));
    const { seen, failures } = await watch({ write, lasts: 5 * second });
    expect(failures).toEqual(["the disk is full"]);
    expect(seen).toHaveLength(1);
  });
});

test("a slow environment does not hold up the others", async () => {
  const timing = new VirtualTiming();
  const stop = new AbortController();
  const turns: Record<string, number> = {};
  const watching = watchAll({
    names: () => ["fast", "slow"],
    timing,
    listEvery: 1_000,
    signal: stop.signal,
    watch: async (name, signal) => {
      while (!signal.aborted) {
        turns[name] = (turns[name] ?? 0) + 1;
        await timing.sleep(name === "slow" ? 60 * second : second, signal).catch(() => undefined);
      }
    },
    removed: () => {},
    failed: () => {},
  });
  await timing.sleep(30 * second + 1);
  stop.abort();
  await watching;
  expect(turns).toEqual({ fast: 31, slow: 1 });
});
