// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import type { Timing } from "../../engine/index.ts";
import { WorkQueue } from "../../operator/runtime/queue.ts";

/** A clock that moves only when it is told to. */
function handClock() {
  let now = 0;
  const alarms = new Set<{ readonly at: number; readonly ring: () => void }>();
  const alarm = (milliseconds: number, ring: () => void) => {
    const entry = { at: now + milliseconds, ring };
    alarms.add(entry);
    return () => alarms.delete(entry);
  };
  const timing: Timing = {
    now: () => now,
    elapsed: () => now,
    alarm,
    sleep: (milliseconds) => new Promise((resolve) => alarm(milliseconds, resolve)),
  };
  const pass = async (milliseconds: number) => {
    const end = now + milliseconds;
    for (;;) {
      const next = [...alarms].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (next === undefined) break;
      alarms.delete(next);
      now = next.at;
      next.ring();
      await Promise.resolve();
    }
    now = end;
    await Promise.resolve();
  };
  return { timing, pass };
}

const limits = { first: 100, longest: 1_000, perSecond: 10, burst: 100 };

/** Whatever can be taken without waiting. */
async function takeAll(queue: WorkQueue, most = 10): Promise<readonly string[]> {
  const taken: string[] = [];
  for (let count = 0; count < most; count++) void queue.take().then((key) => key !== undefined && taken.push(key));
  await new Promise((resolve) => setImmediate(resolve));
  return taken;
}

test("a key that is added often is taken once, and not again while it is worked on", async () => {
  const { timing } = handClock();
  const queue = new WorkQueue(timing, limits);
  for (const key of ["a", "b", "a", "a"]) queue.add(key);
  expect(await takeAll(queue)).toEqual(["a", "b"]);
  queue.add("a");
  queue.add("a");
  expect(queue.facts).toMatchObject({ depth: 0, working: 2 });
  queue.done("a");
  expect(queue.facts).toMatchObject({ depth: 0, working: 2, added: 3 });
});

test("what fails comes back after twice as long each time, up to a limit, until it succeeds", async () => {
  const { timing, pass } = handClock();
  const queue = new WorkQueue(timing, limits);
  const delays: number[] = [];
  for (let failure = 0; failure < 6; failure++) delays.push(queue.retry("a"));
  expect(delays).toEqual([100, 200, 400, 800, 1_000, 1_000]);
  queue.forget("a");
  expect(queue.retry("a")).toBe(100);
  await pass(99);
  expect(queue.facts.depth).toBe(0);
  await pass(1);
  expect(queue.facts.depth).toBe(1);
});

test("a key that waits for its time is taken at once when it is added", async () => {
  const { timing, pass } = handClock();
  const queue = new WorkQueue(timing, limits);
  queue.addAfter("a", 500);
  queue.addAfter("a", 900);
  queue.add("a");
  expect(await takeAll(queue, 1)).toEqual(["a"]);
  queue.done("a");
  await pass(1_000);
  expect(queue.facts).toMatchObject({ depth: 0, added: 1 });
});

test("after a burst no more are begun than so many a second", async () => {
  const { timing, pass } = handClock();
  const queue = new WorkQueue(timing, { ...limits, burst: 3 });
  for (let key = 0; key < 10; key++) queue.add(String(key));
  const first = await takeAll(queue);
  expect(first).toEqual(["0", "1", "2"]);
  await pass(500);
  expect(queue.facts.depth).toBe(2);
});

test("a closed queue gives nothing out", async () => {
  const { timing } = handClock();
  const queue = new WorkQueue(timing, limits);
  const waiting = queue.take();
  queue.close();
  queue.add("a");
  expect([await waiting, await queue.take()]).toEqual([undefined, undefined]);
});
