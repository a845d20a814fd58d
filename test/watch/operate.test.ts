// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { TalosError } from "../../talos/errors.ts";
import {
  type ClusterObservation,
  type LogEntry,
  operateAll,
  StatusRecord,
  type WatchedProject,
} from "../../watch/index.ts";
import { environmentCache, type RepairOutcome } from "../../watch/project.ts";
import { VirtualTiming } from "../engine/virtual-timing.ts";
import { observedLab, stepFor } from "./observations.ts";

const minute = 60_000;
const simulated = "infrastructure: { kind: simulated }\ncontrolPlane: { count: 1 }\n";
const repairing = `${simulated}operate: { repair: true }\n`;

interface Script {
  readonly files: Record<string, string>;
  /** Throws while the files cannot be listed. */
  list?: () => void;
  look?: (name: string, turn: number) => ClusterObservation;
  repair?: (name: string, turn: number, signal: AbortSignal) => Promise<void>;
  /** @default repaired */
  outcome?: RepairOutcome;
  backup?: (name: string) => void;
  /** Milliseconds of virtual time. @default an hour */
  readonly lasts?: number;
  readonly given?: boolean;
  during?: (time: VirtualTiming, script: Script) => Promise<void>;
}

/** Runs the operator over files that may change while it runs, in virtual time. */
async function play(script: Script) {
  const timing = new VirtualTiming();
  const began = timing.elapsed();
  const stop = new AbortController();
  const record = new StatusRecord();
  const log: (LogEntry & { readonly after: number })[] = [];
  const counts: Record<string, number> = {};
  const times: Record<string, number[]> = {};
  const turn = (what: string) => {
    counts[what] = (counts[what] ?? 0) + 1;
    times[what] = [...(times[what] ?? []), timing.elapsed() - began];
    return counts[what];
  };
  const written: Record<string, unknown> = {};
  const project: WatchedProject = {
    environmentNames: () => {
      script.list?.();
      return Object.keys(script.files);
    },
    load: environmentCache((path) => script.files[path.slice("environments/".length, -".yaml".length)]),
    observe: async ({ name }) => script.look?.(name, turn(`look ${name}`)) ?? observedLab(),
    repair: async ({ name }, { review, begun }, signal) => {
      const count = turn(`repair ${name}`);
      if ((script.outcome ?? { kind: "repaired" }).kind === "repaired") begun();
      review([stepFor("w-1")]);
      await script.repair?.(name, count, signal);
      return script.outcome ?? { kind: "repaired" };
    },
    backup: async ({ name }) => {
      turn(`backup ${name}`);
      script.backup?.(name);
      return { id: `${name}-1`, revision: 1, bytes: 1, sha256: "", removed: [] };
    },
    readConditions: async () => undefined,
    writeConditions: async (name, conditions) => {
      written[name] = conditions;
    },
  };
  record.leading = true;
  const entropy = (count: number) => new Uint8Array(count).fill(0x80);
  const repair = script.given ?? false;
  const tell = (entry: LogEntry) => log.push({ ...entry, after: timing.elapsed() - began });
  const operated = operateAll({ project, record, log: tell, timing, entropy, repair, signal: stop.signal });
  await script.during?.(timing, script);
  await timing.sleep(Math.max(0, (script.lasts ?? 60 * minute) - (timing.elapsed() - began)));
  stop.abort();
  await operated;
  const lines = log.map(({ level, environment, message }) => `${level} ${environment}: ${message}`);
  return { record, log, lines, counts, times, written };
}

describe("the operator", () => {
  test("looks at each environment by its own interval", async () => {
    const { counts, record } = await play({
      files: { lab: simulated, slow: `${simulated}operate: { interval: 10m }\n` },
      look: () => observedLab(),
    });
    expect(counts["look lab"]).toBeGreaterThan(55);
    expect(counts["look slow"]).toBeGreaterThanOrEqual(6);
    expect(counts["look slow"]).toBeLessThan(8);
    expect(counts["repair lab"]).toBeUndefined();
    expect(record.unready()).toBeUndefined();
  });

  test("tells a difference once, and repairs it only where that is allowed", async () => {
    const drift = observedLab({}, { steps: [stepFor("w-1")] });
    const fixed = new Set<string>();
    const { lines, counts } = await play({
      files: { lab: simulated, mended: repairing },
      look: (name) => (fixed.has(name) ? observedLab() : drift),
      repair: async (name) => void fixed.add(name),
    });
    expect(lines.filter((line) => line.includes("lab: to do: apply config to w-1"))).toHaveLength(1);
    expect(lines).toContain("warning lab: not repaired: operate.repair is false");
    expect(counts).toMatchObject({ "repair mended": 1 });
    expect(counts["repair lab"]).toBeUndefined();
    expect(lines).toContain("info mended: Drifted is False: AsDeclared: the cluster is what its file says");
  });

  test.each([
    [undefined, true],
    ["it belongs to Terraform: talosmith deploy lab", false],
  ])("says that it may repair unless something forbids it: %s", async (obstacle, allowed) => {
    const look = () => observedLab({}, obstacle === undefined ? {} : { obstacle });
    const { record } = await play({ files: { lab: repairing }, look, lasts: 2 * minute });
    expect(record.entries.get("lab")?.repairAllowed).toBe(allowed);
  });

  test("waits longer after each repair that failed, and begins anew when the file changes", async () => {
    const { times, record, lines } = await play({
      files: { lab: repairing },
      look: () => observedLab({}, { steps: [stepFor("w-1")] }),
      repair: async () => {
        throw new TalosError("unavailable", "no way");
      },
      lasts: 3 * 60 * minute,
      during: async (timing, script) => {
        await timing.sleep(2 * 60 * minute);
        script.files.lab = `${repairing}cluster: { certSans: [a.example.com] }\n`;
      },
    });
    const repairs = times["repair lab"] ?? [];
    const before = repairs.filter((at) => at < 120 * minute);
    expect(before.length).toBeGreaterThan(5);
    expect(before.length).toBeLessThan(12);
    const pauses = before.slice(1).map((at, i) => at - (before[i] ?? 0));
    expect(pauses.every((pause, i) => pause >= (pauses[i - 1] ?? 0) - 2 * minute)).toBe(true);
    expect(repairs.some((at) => at >= 120 * minute && at < 121 * minute)).toBe(true);
    expect(lines.filter((line) => line === "error lab: no way").length).toBe(repairs.length);
    expect(record.entries.get("lab")?.fault).toBe("no way");
  });

  test.each([365, -365])("goes on when the clock is set by %i days", async (days) => {
    const { times, counts } = await play({
      files: { lab: `${repairing}backup: { directory: backups, schedule: "0 * * * *" }\n` },
      look: () => observedLab({}, { steps: [stepFor("w-1")] }),
      repair: async () => {
        throw new TalosError("unavailable", "no way");
      },
      lasts: 180 * minute,
      during: async (timing) => {
        await timing.sleep(10 * minute);
        timing.setClock(days * 24 * 60 * minute);
      },
    });
    const pauses = (times["repair lab"] ?? []).map((at, i, all) => at - (all[i - 1] ?? 0));
    expect(Math.max(...pauses)).toBeLessThan(35 * minute);
    expect(counts["look lab"]).toBeGreaterThan(160);
    expect(counts["backup lab"]).toBeGreaterThanOrEqual(2);
    expect(counts["backup lab"]).toBeLessThanOrEqual(4);
  });

  test("a run of somebody else is no failure", async () => {
    const { counts, record } = await play({
      files: { lab: repairing },
      look: () => observedLab({}, { steps: [stepFor("w-1")] }),
      repair: async () => {
        throw new TalosError("conflict", "another run works on this cluster");
      },
      lasts: 10 * minute,
    });
    expect(counts["repair lab"]).toBeGreaterThan(8);
    expect(record.entries.get("lab")?.fault).toBeUndefined();
  });

  describe("where Terraform manages the cluster", () => {
    const drift = observedLab({}, { steps: [stepFor("w-1")], manager: "terraform" });
    const healthy = observedLab({}, { manager: "terraform" });
    const allowed = (record: StatusRecord) => record.entries.get("lab")?.repairAllowed;

    test("repairs through it, and asks it for a plan at every tenth observation without a difference", async () => {
      let isFixed = false;
      const { times, lines, record } = await play({
        files: { lab: repairing },
        look: () => (isFixed ? healthy : drift),
        repair: async () => {
          isFixed = true;
        },
      });
      const [first = -1, ...later] = times["repair lab"] ?? [];
      expect(first).toBeLessThan(minute);
      expect(later.length).toBeGreaterThanOrEqual(5);
      expect(later.length).toBeLessThanOrEqual(6);
      expect(lines).toContain("info lab: the machines are what the file says");
      expect(allowed(record)).toBe(true);
    });

    test("plans that change nothing are not reported", async () => {
      const { counts, lines } = await play({
        files: { lab: repairing },
        look: () => healthy,
        outcome: { kind: "unchanged" },
      });
      expect(counts["repair lab"]).toBeGreaterThanOrEqual(5);
      expect(lines.filter((line) => line.includes("machines are what") || line.includes("not repaired"))).toEqual([]);
    });

    test("a plan that needs a person is reported once, not planned again at every observation, and no fault", async () => {
      const { counts, lines, record } = await play({
        files: { lab: repairing },
        look: () => drift,
        outcome: { kind: "refused", reason: "a person has to decide: delete aws_instance.w-1" },
      });
      expect(counts["look lab"]).toBeGreaterThan(55);
      expect(counts["repair lab"]).toBeLessThanOrEqual(7);
      const told = lines.filter((line) => line.includes("not repaired: a person has to decide: delete aws_instance"));
      expect(told).toHaveLength(1);
      expect(lines.filter((line) => line.includes("brings the machines back"))).toEqual([]);
      expect(record.entries.get("lab")?.fault).toBeUndefined();
    });

    test("a changed file is planned at once", async () => {
      const { times } = await play({
        files: { lab: repairing },
        look: () => healthy,
        outcome: { kind: "unchanged" },
        lasts: 6 * minute,
        during: async (timing, script) => {
          await timing.sleep(4 * minute);
          script.files.lab = `${repairing}cluster: { certSans: [a.example.com] }\n`;
        },
      });
      expect(times["repair lab"]).toHaveLength(2);
      expect(times["repair lab"]?.[1]).toBeLessThan(4 * minute + 6_000);
    });

    test.each([
      ["repairs are not allowed", simulated, healthy],
      [
        "terraform is missing",
        repairing,
        observedLab({}, { ...drift, obstacle: "neither terraform nor tofu is on the PATH" }),
      ],
    ])("plans nothing where %s, and the metric says so", async (_when, file, look) => {
      const { counts, record } = await play({ files: { lab: file }, look: () => look });
      expect(counts["repair lab"]).toBeUndefined();
      expect(allowed(record)).toBe(false);
    });
  });

  test("refuses steps that turn up during a repair and need a person", async () => {
    const { lines } = await play({
      files: { lab: repairing },
      look: (_name, turn) => {
        if (turn > 1) return observedLab();
        return observedLab({}, { steps: [stepFor("w-1", { destructive: true, sentence: "wipe w-1" })] });
      },
      lasts: minute / 2,
    });
    expect(lines).toContain("warning lab: not repaired: a person has to decide: wipe w-1");
  });

  test("a file with faults, or a cluster that is not there, holds no other environment up", async () => {
    const { counts, lines, record } = await play({
      files: { broken: "controlPlane: [\n", gone: simulated, lab: simulated },
      look: (name) => {
        if (name === "gone") throw new TalosError("not-found", "gone is not deployed");
        return observedLab();
      },
    });
    expect(counts["look lab"]).toBeGreaterThan(55);
    expect(counts["look gone"]).toBeLessThan(10);
    expect(lines.filter((line) => line.startsWith("error broken:"))).toHaveLength(1);
    expect(lines.filter((line) => line === "error gone: gone is not deployed")).toHaveLength(1);
    expect(record.entries.get("broken")?.fault).toBeDefined();
    expect(record.unready()).toBeUndefined();
  });

  test("goes on with what it watches while the files cannot be listed, and tells that once", async () => {
    const { counts, lines } = await play({
      files: { lab: simulated },
      look: () => observedLab(),
      lasts: 30 * minute,
      during: async (timing, script) => {
        await timing.sleep(5 * minute);
        script.list = () => {
          throw new Error("EIO: i/o error, scandir 'environments'");
        };
        await timing.sleep(10 * minute);
        delete script.list;
        script.files.more = simulated;
      },
    });
    expect(counts["look lab"]).toBeGreaterThan(25);
    expect(counts["look more"]).toBeGreaterThan(10);
    expect(lines.filter((line) => line.includes("cannot be listed"))).toEqual([
      "error undefined: the environments cannot be listed: EIO: i/o error, scandir 'environments'",
    ]);
    expect(lines.filter((line) => line.includes("not watched any more"))).toEqual([]);
  });

  test("takes up new files, forgets those that are gone, and sees a change within seconds", async () => {
    const { times, lines, record } = await play({
      files: { lab: `${simulated}operate: { interval: 30m }\n` },
      look: () => observedLab(),
      lasts: 20 * minute,
      during: async (timing, { files }) => {
        await timing.sleep(10 * minute);
        files.lab = simulated;
        files.late = simulated;
        await timing.sleep(5 * minute);
        delete files.lab;
      },
    });
    expect(times["look lab"]?.some((at) => at >= 10 * minute && at < 10 * minute + 6_000)).toBe(true);
    expect(times["look late"]?.[0]).toBeLessThan(10 * minute + 6_000);
    expect(lines).toContain("info lab: its file is gone: not watched any more");
    expect(Math.max(...(times["look lab"] ?? []))).toBeLessThan(15 * minute + 6_000);
    expect([...record.entries.keys()]).toEqual(["late"]);
  });

  test("takes up a new file while one that is gone still comes to its safe point, and waits for the same one", async () => {
    let time = new VirtualTiming();
    const { times, lines, record } = await play({
      files: { lab: repairing },
      lasts: 30 * minute,
      look: (name) => observedLab({}, { steps: name === "lab" ? [stepFor("w-1")] : [] }),
      repair: async () => time.sleep(15 * minute),
      during: async (timing, script) => {
        time = timing;
        await timing.sleep(minute);
        delete script.files.lab;
        await timing.sleep(minute);
        script.files.new = simulated;
        script.files.lab = simulated;
      },
    });
    expect(times["look new"]?.[0]).toBeLessThan(3 * minute);
    expect(times["look lab"]?.[1]).toBeGreaterThanOrEqual(15 * minute);
    expect(lines).toContain("info lab: its file is gone: not watched any more");
    expect([...record.entries.keys()].sort()).toEqual(["lab", "new"]);
  });

  test("takes backups by the schedule, and by another one without a restart", async () => {
    const withSchedule = (cron: string) => `${simulated}backup: { directory: b, schedule: "${cron}" }\n`;
    const { times, counts, lines } = await play({
      files: { lab: withSchedule("*/15 * * * *"), other: simulated },
      look: () => observedLab(),
      lasts: 3 * 60 * minute,
      during: async (timing, { files }) => {
        await timing.sleep(61 * minute);
        files.lab = withSchedule("50 * * * *");
      },
    });
    expect(times["backup lab"]?.map((at) => Math.round(at / minute))).toEqual([15, 30, 45, 60, 110, 170]);
    expect(counts["backup other"]).toBeUndefined();
    expect(lines).toContain("info lab: the next backup at 2026-01-01T00:15:00.000Z");
  });

  test("a backup that fails is told, and the next one is taken", async () => {
    let first = true;
    const { counts, lines } = await play({
      files: { lab: `${simulated}backup: { directory: b, schedule: "*/30 * * * *" }\n` },
      look: () => observedLab(),
      backup: () => {
        if (!first) return;
        first = false;
        throw new TalosError("unavailable", "the store is away");
      },
      lasts: 70 * minute,
    });
    expect(lines).toContain("error lab: the store is away");
    expect(counts["backup lab"]).toBe(2);
  });

  test("stops a repair at its safe point, and ends only then", async () => {
    let safe = false;
    const { lines, record } = await play({
      files: { lab: simulated },
      given: true,
      look: () => observedLab({}, { steps: [stepFor("w-1")] }),
      repair: (_name, _turn, signal) =>
        new Promise((_, reject) => {
          signal.addEventListener("abort", () =>
            setTimeout(() => {
              safe = true;
              reject(new TalosError("canceled", "stopped"));
            }, 20),
          );
        }),
      lasts: 5 * minute,
    });
    expect(safe).toBe(true);
    expect(lines.at(-1)).toBe("info lab: stopped at a safe point; the next one goes on from there");
    expect(record.timed).toContainEqual(
      expect.objectContaining({ operation: "repair", outcome: "canceled", count: 1 }),
    );
  });

  test("remembers since when conditions are what they are", async () => {
    const { written } = await play({
      files: { lab: simulated },
      look: (_name, turn) => observedLab({}, turn < 10 ? {} : { steps: [stepFor("w-1")] }),
    });
    const { cluster } = written.lab as { cluster: { type: string; lastTransitionTime: string }[] };
    const since = (type: string) => cluster.find((condition) => condition.type === type)?.lastTransitionTime;
    expect(since("Ready")).toBe("2026-01-01T00:00:00Z");
    expect(since("Drifted")).toMatch(/^2026-01-01T00:(08|09|10):/);
  });
});
