// SPDX-License-Identifier: Apache-2.0
// Stopped at various points, a bring-up says so in its exit code, leaves nobody behind, and the next run completes it.
import { afterAll, expect, test } from "vitest";
import { makeProject, processesOf, removeProject, talosmith } from "./project.ts";

const root = makeProject();
afterAll(async () => {
  await talosmith(["destroy", "local", "--yes"], { cwd: root });
  removeProject(root);
});

test("SIGINT, SIGTERM and SIGKILL of `up`", { timeout: 600_000 }, async () => {
  const stopWhen = (words: RegExp, signal: NodeJS.Signals) => {
    let sent = false;
    return talosmith(["up", "local"], {
      cwd: root,
      onSaid: (said, { kill }) => {
        if (!sent && words.test(said)) {
          sent = true;
          kill(signal);
        }
      },
    });
  };
  const interrupted = await stopWhen(/local-cp-1: config applied/, "SIGINT");
  expect(interrupted.code, interrupted.stderr).toBe(130);
  expect(interrupted.stderr).toMatch(
    /! Stopping where it is safe\. Send the signal again to stop at once\.\n(?:.*\n)*Stopped\. To go on from here: \S.* up local\n$/,
  );
  expect(interrupted.stderr).toMatch(/✗ stopped: .*local-cp-1/);
  const terminated = await stopWhen(/./, "SIGTERM");
  expect(terminated.code, terminated.stderr).toBe(143);
  const killed = await stopWhen(/./, "SIGKILL");
  expect(killed.signal).toBe("SIGKILL");
  // What it had started notices within a moment.
  await expect.poll(() => processesOf(root), { timeout: 15_000 }).toEqual([]);
  // Two at once: one waits, or is told that the other is at work; in the end the cluster stands.
  const both = await Promise.all([1, 2].map(() => talosmith(["up", "local"], { cwd: root })));
  expect(both.map(({ code }) => code)).toContain(0);
  for (const { code, stderr } of both) if (code !== 0) expect(stderr).toMatch(/^(?!.* {4}at )[\s\S]*Error: /);
  const last = await talosmith(["up", "local"], { cwd: root });
  expect(last.code, last.stderr).toBe(0);
});
