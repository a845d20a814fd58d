// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { systemTiming } from "../../engine/execute/timing.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const day = 86_400_000;

test.each([0.001, 1, 24, 25, 60])("an alarm in %s days rings then, not before and not twice", (days) => {
  const ring = vi.fn();
  systemTiming.alarm(days * day, ring);
  vi.advanceTimersByTime(days * day - 1);
  expect(ring).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1 + 60 * day);
  expect(ring).toHaveBeenCalledOnce();
});

test.each([0, 30])("an alarm that is taken back after %s of its 60 days does not ring", (days) => {
  const ring = vi.fn();
  const takeBack = systemTiming.alarm(60 * day, ring);
  vi.advanceTimersByTime(days * day);
  takeBack();
  vi.advanceTimersByTime(100 * day);
  expect(ring).not.toHaveBeenCalled();
});
