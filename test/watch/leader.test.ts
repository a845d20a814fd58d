// SPDX-License-Identifier: Apache-2.0
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Lease, LeaseRecord } from "../../engine/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { mayTake, sight, whileLeading } from "../../watch/index.ts";
import { VirtualTiming } from "../engine/virtual-timing.ts";

/** A Lease in memory that refuses whoever writes over another version than it has. */
class MemoryLease {
  record: LeaseRecord | undefined;
  #version = 0;

  /** As one process sees it; its network may be away, or take its time for either. */
  view(reach: (what: "read" | "write") => Promise<void>): Lease {
    return {
      read: async () => {
        await reach("read");
        return this.record;
      },
      write: async ({ holder }, known) => {
        await reach("write");
        if (known?.version !== this.record?.version) throw new TalosError("conflict", "modified");
        const transitions = (this.record?.transitions ?? 0) + (holder === this.record?.holder ? 0 : 1);
        this.record = { holder, version: String(++this.#version), transitions, acquired: "", renewed: "" };
      },
    };
  }
}

function candidates(timing: VirtualTiming, names: readonly string[]) {
  const lease = new MemoryLease();
  const working = new Set<string>();
  const history: string[] = [];
  const began = timing.now();
  let most = 0;
  const all = names.map((name) => {
    const stop = new AbortController();
    const state: { cut: boolean; lag?: (what: "read" | "write") => Promise<void> } = { cut: false };
    const reach = async (what: "read" | "write") => {
      await state.lag?.(what);
      if (state.cut) throw new TalosError("unavailable", "no route");
    };
    const work = async (signal: AbortSignal) => {
      working.add(name);
      most = Math.max(most, working.size);
      history.push(`${name} ${Math.round((timing.now() - began) / 1000)}`);
      await timing.sleep(1e9, signal).catch(() => undefined);
      working.delete(name);
    };
    const ended = whileLeading(work, {
      lease: lease.view(reach),
      identity: name,
      timing,
      log: () => undefined,
      onChange: () => undefined,
      signal: stop.signal,
    });
    return { name, stop, state, ended };
  });
  return { all, working, history, lease, most: () => most };
}

describe("of several operators", () => {
  test("one works, and gives way at once when it is asked to stop", async () => {
    const timing = new VirtualTiming();
    const { all, working, history, most } = candidates(timing, ["a", "b", "c"]);
    await timing.sleep(60_000);
    expect([...working]).toEqual(["a"]);
    all[0]?.stop.abort();
    await timing.sleep(5_000);
    expect(working.size).toBe(1);
    expect(history[1]).toMatch(/^[bc] 6[0-4]$/);
    expect(most()).toBe(1);
    for (const { stop } of all) stop.abort();
    await Promise.all(all.map(({ ended }) => ended));
  });

  test("one gives the lease back also when its last renewal lands meanwhile", async () => {
    const timing = new VirtualTiming();
    const { all, lease } = candidates(timing, ["a"]);
    // Between two renewals.
    await timing.sleep(31_000);
    const [first] = all;
    first?.stop.abort();
    let late = true;
    if (first !== undefined)
      first.state.lag = async (what) => {
        if (what === "read" || !late || lease.record === undefined) return;
        late = false;
        lease.record = { ...lease.record, version: "renewed" };
      };
    await first?.ended;
    expect(late).toBe(false);
    expect(lease.record?.holder).toBe("");
  });

  test("one that is cut off stops before another begins", async () => {
    const timing = new VirtualTiming();
    const { all, working, history, most } = candidates(timing, ["a", "b"]);
    await timing.sleep(30_000);
    const [first] = all;
    if (first !== undefined) first.state.cut = true;
    await timing.sleep(60_000);
    expect([...working]).toEqual(["b"]);
    expect(history[1]).toMatch(/^b 4[4-9]$/);
    if (first !== undefined) first.state.cut = false;
    await timing.sleep(60_000);
    expect([...working]).toEqual(["b"]);
    expect(most()).toBe(1);
    for (const { stop } of all) stop.abort();
    await Promise.all(all.map(({ ended }) => ended));
  });

  test("one whose answers come late stops before another begins, too", async () => {
    const timing = new VirtualTiming();
    const { all, working, history, most } = candidates(timing, ["a", "b"]);
    await timing.sleep(30_000);
    let reads = 0;
    const [first] = all;
    if (first !== undefined)
      first.state.lag = async (what) => {
        await timing.sleep(4_900);
        // The first read and every write are lost, as in a network that drops packets.
        if (what === "write" || reads++ === 0) throw new TalosError("unavailable", "no answer in time");
      };
    await timing.sleep(60_000);
    expect([...working]).toEqual(["b"]);
    expect(history[1]).toMatch(/^b 4[4-9]$/);
    expect(most()).toBe(1);
    for (const { stop } of all) stop.abort();
    await Promise.all(all.map(({ ended }) => ended));
  });

  test("never two work, whoever is cut off and comes back when", async () => {
    const cuts = fc.array(fc.record({ who: fc.nat(2), seconds: fc.integer({ min: 1, max: 40 }) }), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(cuts, async (script) => {
        const timing = new VirtualTiming();
        const { all, most, working } = candidates(timing, ["a", "b", "c"]);
        for (const { who, seconds } of script) {
          const chosen = all[who];
          if (chosen !== undefined) chosen.state.cut = !chosen.state.cut;
          await timing.sleep(seconds * 1000);
        }
        for (const { state } of all) state.cut = false;
        await timing.sleep(40_000);
        expect(working.size).toBe(1);
        expect(most()).toBe(1);
        for (const { stop } of all) stop.abort();
        await Promise.all(all.map(({ ended }) => ended));
      }),
      { numRuns: 25 },
    );
  });
});

test("a lease is taken when nobody has it, when it is ours, or when it has not moved for its duration", () => {
  const record = { holder: "a", version: "1", transitions: 0, acquired: "", renewed: "" };
  const seen = sight(undefined, record, 1000);
  expect(sight(seen, record, 9000)).toBe(seen);
  expect(sight(seen, { ...record, version: "2" }, 9000).at).toBe(9000);
  expect(mayTake(seen, "b", 15_999, 15_000)).toBe(false);
  expect(mayTake(seen, "b", 16_000, 15_000)).toBe(true);
  expect(mayTake(seen, "a", 1000, 15_000)).toBe(true);
  expect(mayTake({ ...seen, record: { ...record, holder: "" } }, "b", 1000, 15_000)).toBe(true);
});
