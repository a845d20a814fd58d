// SPDX-License-Identifier: Apache-2.0
import { afterEach, expect, test, vi } from "vitest";
import { TaskBoard } from "../../../cli/output/progress.ts";
import type { ClusterEvent, Step } from "../../../engine/index.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

const event = (type: ClusterEvent["type"], message: string, machine?: string): ClusterEvent => ({
  type,
  at: new Date(0),
  message,
  ...(machine === undefined ? {} : { machine }),
});
const step: Step = {
  kind: "join-etcd",
  id: "join-etcd/cp-1",
  machine: "cp-1",
  sentence: "join",
  after: [],
  destructive: false,
};

test("what is told before the plan, warnings, and waits that concern no single machine are all shown", async () => {
  let drawn = "";
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    drawn += text;
    return true;
  });
  const data = vi.spyOn(process.stdout, "write").mockImplementation(() => true);
  const lines: string[] = [];
  const board = new TaskBoard((line) => lines.push(line));
  board.listener(event("waiting", "cp-1: it does not answer"));
  board.listener(event("warning", "an even number of control planes"));
  expect(lines).toEqual(["  … cp-1: it does not answer", "  ! an even number of control planes"]);

  const listening = process.listenerCount("SIGINT");
  board.listener({ ...event("planned", "1 step to do"), steps: [step] });
  await new Promise(setImmediate);
  // Ctrl-C is the command's to hear.
  expect(process.listenerCount("SIGINT")).toBe(listening);
  board.listener(event("warning", "the installer is old", "cp-1"));
  board.listener(event("step-finished", "cp-1 joins etcd", "cp-1"));
  board.listener(event("waiting", "waiting for all k8s nodes to report ready: w-1: is not ready"));
  await vi.waitFor(() => expect(drawn).toContain("waiting for all k8s nodes to report ready: w-1: is not ready"), {
    timeout: 20_000,
  });
  board.listener(event("waiting", "it reboots", "w-7"));
  await vi.waitFor(() => expect(drawn).toContain("w-7: it reboots"), { timeout: 20_000 });
  await board.finish();
  // The same tick as in plain lines.
  expect(drawn).toContain("✓");
  expect(drawn).not.toContain("✔");
  // Data goes there, and it may be a file.
  expect(data).not.toHaveBeenCalled();
  expect(lines.slice(2)).toEqual(["  ! cp-1: the installer is old"]);
});
