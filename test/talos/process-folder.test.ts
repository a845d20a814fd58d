// SPDX-License-Identifier: Apache-2.0
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
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
