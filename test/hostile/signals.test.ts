// SPDX-License-Identifier: Apache-2.0
// Stopped at various points, a bring-up says so in its exit code, leaves nobody behind, and the next run completes it.
import { readdirSync, readFileSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { makeProject, removeProject, talosmith } from "./project.ts";

const root = makeProject();
afterAll(async () => {
  await talosmith(["destroy", "local", "--yes"], { cwd: root });
  removeProject(root);
});

/** Processes that have the project as an argument or as their working directory, other than the simulator's daemon. */
function leftBehind(): readonly string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((pid) => {
      try {
        return [readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")];
      } catch {
        // It has ended meanwhile.
        return [];
      }
    })
    .filter((line) => line.includes(root) && !/daemon|simulator/.test(line));
}

test("SIGINT, SIGTERM and SIGKILL of `up`", { timeout: 600_000 }, async () => {
  const stopWhen = (words: RegExp, signal: NodeJS.Signals) => {
    let sent = false;
    return talosmith(["up", "local"], {
      cwd: root,
      onSaid: (said, kill) => {
        if (!sent && words.test(said)) {
          sent = true;
          kill(signal);
        }
      },
    });
  };
  const interrupted = await stopWhen(/local-cp-1/, "SIGINT");
  expect(interrupted.code, interrupted.stderr).toBe(130);
  expect(interrupted.stderr).toContain("Run the same command again to go on from here.");
  const terminated = await stopWhen(/./, "SIGTERM");
  expect(terminated.code, terminated.stderr).toBe(143);
  const killed = await stopWhen(/./, "SIGKILL");
  expect(killed.signal).toBe("SIGKILL");
  if (process.platform === "linux") expect(leftBehind()).toEqual([]);
  // Two at once: one waits, or is told that the other is at work; in the end the cluster stands.
  const both = await Promise.all([1, 2].map(() => talosmith(["up", "local"], { cwd: root })));
  expect(both.map(({ code }) => code)).toContain(0);
  for (const { code, stderr } of both) if (code !== 0) expect(stderr).toMatch(/^(?!.* {4}at )[\s\S]*Error: /);
  const last = await talosmith(["up", "local"], { cwd: root });
  expect(last.code, last.stderr).toBe(0);
});
