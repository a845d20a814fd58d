// SPDX-License-Identifier: Apache-2.0
import { appendFileSync, existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { eventsTo, type ToldEvent } from "../../../engine/index.ts";
import { withFollowedEvents } from "../../../workspace/terraform/run-events.ts";

const folder = mkdtempSync(join(tmpdir(), "talosmith-events-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const running = new AbortController().signal;

test("what the provider tells is heard in order, while it works and at the end; nothing stays", async () => {
  const path = join(folder, "one.events");
  const heard: ToldEvent[] = [];
  const write = eventsTo(path);
  const at = new Date(0);
  await withFollowedEvents(
    path,
    running,
    (event) => heard.push(event),
    async (catchUp) => {
      expect(statSync(path).mode & 0o777).toBe(0o600);
      const step = {
        kind: "bootstrap-etcd",
        machine: "cp-1",
        id: "s",
        sentence: "über cp-1",
        after: [],
        destructive: false,
      } as const;
      write({ type: "planned", at, message: "one step", steps: [step] });
      write({ type: "step-started", at, message: "über cp-1", machine: "cp-1", step });
      catchUp();
      expect(heard).toEqual([
        {
          at,
          type: "planned",
          message: "one step",
          steps: [{ id: "s", sentence: "über cp-1", destructive: false, machine: "cp-1" }],
        },
        { at, type: "step-started", message: "über cp-1", machine: "cp-1", step: { id: "s" } },
      ]);
      appendFileSync(path, "not ours\n{}\n");
      write({ type: "healthy", at, message: "all is well" });
    },
  );
  expect(heard.at(-1)).toEqual({ at, type: "healthy", message: "all is well" });
  expect(heard).toHaveLength(3);
  expect(existsSync(path)).toBe(false);
});

test("half a line is told when the rest of it has come", async () => {
  const path = join(folder, "two.events");
  const heard: string[] = [];
  await withFollowedEvents(
    path,
    running,
    ({ message }) => heard.push(message),
    async (catchUp) => {
      appendFileSync(path, '{"at":"2026-11-17T09:00:00Z","type":"waiting","mess');
      catchUp();
      appendFileSync(path, 'age":"for cp-1"}\n');
      expect(heard).toEqual([]);
    },
  );
  expect(heard).toEqual(["for cp-1"]);
});

test("a failure is passed on after the last word was heard", async () => {
  const path = join(folder, "three.events");
  const heard: string[] = [];
  const failing = withFollowedEvents(
    path,
    running,
    ({ message }) => heard.push(message),
    async () => {
      eventsTo(path)({ type: "step-failed", at: new Date(0), message: "no disk" });
      throw new Error("apply failed");
    },
  );
  await expect(failing).rejects.toThrow("apply failed");
  expect(heard).toEqual(["no disk"]);
});

test("a file that cannot be written keeps nobody from working", () => {
  eventsTo(join(folder, "no", "such", "folder"))({ type: "healthy", at: new Date(0), message: "fine" });
});
