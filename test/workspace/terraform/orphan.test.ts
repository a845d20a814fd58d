// SPDX-License-Identifier: Apache-2.0
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { orphanHolding } from "../../../workspace/terraform/state-lock.ts";

const directory = mkdtempSync(join(tmpdir(), "talosmith-orphan-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const state = join(directory, "local.tfstate");
writeFileSync(state, "");

/** A /proc in which process 812 holds the lock of a file. */
function proc(inode: number, parent: number, talosmith = dead): string {
  mkdirSync(join(directory, "812"), { recursive: true });
  writeFileSync(
    join(directory, "locks"),
    `1: FLOCK  ADVISORY  WRITE 7 fe:00:1 0 EOF\n2: POSIX  ADVISORY  WRITE 812 fe:00:${inode} 0 EOF\n`,
  );
  writeFileSync(join(directory, "812", "stat"), `812 (terra) form) S ${parent} 812 812 0 -1`);
  const words = ["terraform", "apply", "-input=false", "-json", `talosmith.${talosmith}.0a1b2c3d.tfplan`];
  writeFileSync(join(directory, "812", "cmdline"), words.map((word) => `${word}\0`).join(""));
  return directory;
}
/** No process has this number. */
const dead = 4194305;
const inode = statSync(state).ino;

test.each([
  ["a terraform whose talosmith was killed", inode, 1, dead, 812],
  ["the same where another process than 1 takes in orphans, as systemd --user does", inode, 4711, dead, 812],
  ["a terraform whose talosmith lives", inode, process.pid, process.pid, undefined],
  ["a terraform that a script of its own starts for a talosmith that lives", inode, 4711, process.pid, undefined],
  ["a terraform of another state", inode + 1, 1, dead, undefined],
])("%s", async (_, held, parent, talosmith, found) => {
  expect(await orphanHolding(state, proc(held, parent, talosmith))).toBe(found);
});

test.each([
  [1, 812],
  [4711, undefined],
])("a terraform that talosmith has not started, with the parent %i", async (parent, found) => {
  proc(inode, parent);
  writeFileSync(join(directory, "812", "cmdline"), "terraform\0apply\0");
  expect(await orphanHolding(state, directory)).toBe(found);
});

test("nobody holds a state that is not there", async () => {
  expect(await orphanHolding(join(directory, "none"), proc(inode, 1))).toBeUndefined();
});
