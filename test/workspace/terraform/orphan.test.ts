// SPDX-License-Identifier: Apache-2.0
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { orphanHolding } from "../../../workspace/terraform/file-lock.ts";

const directory = mkdtempSync(join(tmpdir(), "talosmith-orphan-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const state = join(directory, "local.tfstate");
writeFileSync(state, "");

/** A /proc in which process 812 holds the lock of a file. */
function proc(inode: number, parent: number): string {
  mkdirSync(join(directory, "812"), { recursive: true });
  writeFileSync(
    join(directory, "locks"),
    `1: FLOCK  ADVISORY  WRITE 7 fe:00:1 0 EOF\n2: POSIX  ADVISORY  WRITE 812 fe:00:${inode} 0 EOF\n`,
  );
  writeFileSync(join(directory, "812", "stat"), `812 (terra) form) S ${parent} 812 812 0 -1`);
  return directory;
}
const inode = statSync(state).ino;

test.each([
  ["a terraform whose talosmith was killed", inode, 1, 812],
  ["a terraform whose talosmith lives", inode, 4711, undefined],
  ["a terraform of another state", inode + 1, 1, undefined],
])("%s", async (_, held, parent, found) => {
  expect(await orphanHolding(state, proc(held, parent))).toBe(found);
});

test("nobody holds a state that is not there", async () => {
  expect(await orphanHolding(join(directory, "none"), proc(inode, 1))).toBeUndefined();
});
