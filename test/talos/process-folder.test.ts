// SPDX-License-Identifier: Apache-2.0
import { spawnSync } from "node:child_process";
import { chownSync, existsSync, lchownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { processFolder, removeAbandoned, temporaryFolder, withTemporaryFolder } from "../../talos/process-folder.ts";

describe("a folder that is named after its process", () => {
  let parent: string;
  beforeAll(() => {
    parent = mkdtempSync(join(tmpdir(), "talosmith-process-folder-"));
  });
  afterAll(() => rmSync(parent, { recursive: true, force: true }));

  test("is removed by the next process after its own was killed, whatever either is for", () => {
    const code = `
      import { writeFileSync } from "node:fs";
      import { temporaryFolder } from ${JSON.stringify(resolve("talos/process-folder.ts"))};
      writeFileSync(temporaryFolder("helm", ${JSON.stringify(parent)}) + "/values.yaml", "password: x");
      process.kill(process.pid, "SIGKILL");`;
    const program = ["--import", "tsx", "--input-type=module", "--eval", code];
    expect(spawnSync(process.execPath, program).signal).toBe("SIGKILL");
    expect(readdirSync(parent)).toEqual([expect.stringMatching(/^talosmith-helm-/)]);
    const next = temporaryFolder("state", parent);
    expect(readdirSync(parent)).toEqual([basename(next)]);
    rmSync(next, { recursive: true });
  });

  test("stays while its process lives, where its process is not seen, and where it only looks like one", () => {
    const own = processFolder(parent, "talosmith-", "own");
    const dead = "4194305";
    const others = [
      basename(own).replace(/-\d+-(\w{6})$/, `-${process.ppid}-$1`),
      `talosmith-helm-00000000-${dead}-abcdef`,
      `talosmith-helm-${dead}`,
      "talosmith-0-0123456789abcdef.lock",
      `.synth-00000000-${dead}-abcdef`,
    ].map((name) => join(parent, name));
    for (const folder of others) mkdirSync(folder);
    removeAbandoned(parent);
    expect([own, ...others].filter((folder) => !existsSync(folder))).toEqual([]);
  });

  test.skipIf(process.getuid?.() !== 0)("stays where it is another user's, also for root", () => {
    const own = processFolder(parent, "talosmith-", "own");
    const named = (letters: string) => basename(own).replace(/-\d+-\w{6}$/, `-4194305-${letters}`);
    const [mine, theirs, link] = ["aaaaaa", "bbbbbb", "cccccc"].map((letters) => join(parent, named(letters)));
    for (const folder of [mine, theirs] as string[]) mkdirSync(folder);
    chownSync(theirs as string, 4711, 4711);
    symlinkSync(theirs as string, link as string);
    lchownSync(link as string, 4711, 4711);
    removeAbandoned(parent);
    const left = readdirSync(parent);
    expect([mine, theirs, link].map((path) => left.includes(basename(path as string)))).toEqual([false, true, true]);
  });

  test("is gone after the work, also when that fails", async () => {
    let folder = "";
    const work = withTemporaryFolder("test", async (made) => {
      folder = made;
      expect(existsSync(made)).toBe(true);
      throw new Error("it fails");
    });
    await expect(work).rejects.toThrow("it fails");
    expect(existsSync(folder)).toBe(false);
  });
});
