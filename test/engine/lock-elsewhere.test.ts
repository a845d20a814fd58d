// SPDX-License-Identifier: Apache-2.0
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { breakLock, lockState, withLock } from "../../engine/index.ts";
import { lab, testSecrets, wish } from "./fixture.ts";

/** A process number space of its own, as a container has; not every system lets everybody make one. */
const ownProcesses = ["--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "--kill-child"];
const canUnshare = spawnSync("unshare", [...ownProcesses, "true"]).status === 0;

const elsewhere = {
  pid: 7,
  boot: "another",
  started: "1",
  namespace: "1",
  host: "pod-1",
  since: "2026-01-01T00:00:00Z",
};

let directory: string;
let file: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "talosmith-lock-"));
  file = join(directory, "cluster.lock");
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const hold = <T>(work: () => Promise<T>) => withLock(file, { what: "test" }, work);
const alone = () => hold(async () => "alone");

async function silentFor(seconds: number): Promise<void> {
  const then = Date.now() / 1000 - seconds;
  await utimes(file, then, then);
}

describe("the lock of a process that is not seen from here", () => {
  test("is its own while it marks it, and is taken over a minute after the last time", async () => {
    await writeFile(file, JSON.stringify(elsewhere));
    await silentFor(50);
    await expect(alone()).rejects.toMatchObject({
      code: "conflict",
      taken: true,
      message:
        "another run works on this cluster: process 7 on pod-1, whose processes are not seen from here, since 2026-01-01T00:00:00Z",
      hint: expect.stringContaining("after a minute"),
    });
    await silentFor(70);
    expect(await alone()).toBe("alone");
    expect(await readdir(directory)).toEqual([]);
  });

  test("is shown with its place, and not broken before that", async () => {
    const desired = wish();
    const { world, timing } = lab(desired);
    const options = { desired, secrets: testSecrets(), machines: world.port(), timing, lockFile: file };
    await writeFile(file, JSON.stringify(elsewhere));
    const { pid, since, host } = elsewhere;
    expect((await lockState(options)).local).toEqual({ pid, since, alive: true, elsewhere: host });
    await expect(breakLock(options)).rejects.toMatchObject({ code: "conflict", message: /^process 7 on pod-1 works/ });
    await silentFor(70);
    expect((await lockState(options)).local).toMatchObject({ alive: false });
    await breakLock(options);
    expect((await lockState(options)).local).toBeUndefined();
  });

  test.skipIf(!canUnshare)("in a container: neither its life nor its death is guessed from its number", async () => {
    const program = [process.execPath, "--import", "tsx", join(import.meta.dirname, "lock-holder.ts"), file];
    const holder = spawn("unshare", [...ownProcesses, ...program], { stdio: ["ignore", "pipe", "inherit"] });
    try {
      await once(holder.stdout, "data");
      await expect(alone()).rejects.toMatchObject({ taken: true, message: expect.stringContaining(hostname()) });
    } finally {
      holder.kill("SIGKILL");
      await once(holder, "exit");
    }
    await expect(alone()).rejects.toMatchObject({ taken: true });
    await silentFor(70);
    expect(await alone()).toBe("alone");
  });
});

describe("a holder", () => {
  test("marks its file again and again", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    try {
      await hold(async () => {
        await silentFor(70);
        vi.advanceTimersByTime(15_000);
        await vi.waitFor(async () => expect(Date.now() - (await stat(file)).mtimeMs).toBeLessThan(60_000));
      });
    } finally {
      vi.useRealTimers();
    }
  });

  test("that counted as dead for a while leaves the lock to its successor", async () => {
    const other = JSON.stringify(elsewhere);
    await hold(() => writeFile(file, other));
    expect(await readFile(file, "utf8")).toBe(other);
  });
});

test("a lock is not made through a link that another user has put into the shared folder", async () => {
  const target = join(directory, "elsewhere");
  await symlink(target, file);
  await expect(alone()).rejects.toMatchObject({
    code: "conflict",
    message: `the lock ${file} is a symbolic link`,
    hint: expect.stringContaining("delete it"),
  });
  expect(await readdir(directory)).toEqual(["cluster.lock"]);
  await writeFile(target, "{}");
  await expect(alone()).rejects.toMatchObject({ code: "conflict" });
  expect(await readFile(target, "utf8")).toBe("{}");
});
