// SPDX-License-Identifier: Apache-2.0
// The real command and its simulator, whose clock is set while they work: by libfaketime, for one project alone.
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { everything } from "../support/everything.ts";
import { makeProject, removeProject, talosmith } from "./project.ts";

const library = ["/usr/lib", ...readdirSync("/usr/lib").map((name) => join("/usr/lib", name))]
  .map((folder) => join(folder, "faketime/libfaketimeMT.so.1"))
  .find((file) => existsSync(file));
const day = 86_400;

test.skipIf(library === undefined)("libfaketime is installed", () => expect(library).toBeDefined());

describe.runIf(library !== undefined)("a clock that is set", { timeout: 300_000 }, () => {
  const root = makeProject();
  const file = join(root, "clock");
  const env = {
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: "1",
    // As when somebody sets a clock: how long things take is counted by another one.
    FAKETIME_DONT_FAKE_MONOTONIC: "1",
  };
  const setClock = (seconds: number) => writeFileSync(file, `${seconds < 0 ? "" : "+"}${seconds}`);
  const run = (line: string, onSaid?: () => void) => {
    if (onSaid === undefined) return talosmith(line.split(" "), { cwd: root, env });
    return talosmith(line.split(" "), { cwd: root, env, onSaid });
  };
  afterAll(async () => {
    await run("destroy local --yes");
    removeProject(root);
  });

  test.each([7200, -10])("by %i s during a bring-up changes nothing", async (seconds) => {
    setClock(0);
    const ended = await run("up local", () => setClock(seconds));
    expect(ended.code, ended.stderr).toBe(0);
    const { code, stderr } = await run("plan local");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    if (seconds > 0) await run("destroy local --yes");
  });

  // As a laptop that was asleep: its machines have certificates for a day, and make new ones when they wake.
  test.each(everything ? [2 * day, 100 * day, -5] : [2 * day])(
    "by %i s finds the cluster as it was",
    async (seconds) => {
      setClock(seconds);
      await expect.poll(() => run("plan local"), { timeout: 60_000 }).toMatchObject({ code: 0, stderr: "" });
      expect((await run("health local")).code).toBe(0);
    },
  );

  test("back to before the cluster is told, with what to do", async () => {
    setClock(-10 * day);
    const ended = await run("health local");
    expect(ended.code).toBe(1);
    expect(ended.stderr).toMatch(/its certificate is not valid yet\n {2}Check the clocks on both sides\./);
    setClock(0);
  });
});
