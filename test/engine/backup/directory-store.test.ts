// SPDX-License-Identifier: Apache-2.0
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { directoryStore, listBackups } from "../../../engine/backup/index.ts";
import { mountTinyDisk, unmountDisk } from "../../support/tiny-disk.ts";
import { storeRules } from "./store-rules.ts";
import { take } from "./take.ts";

const root = mkdtempSync(join(tmpdir(), "talosmith-backups-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let folders = 0;
const fresh = () => join(root, String(folders++), "deeper");

describe("backups in a folder", () => {
  storeRules(async () => directoryStore(fresh()));

  test("only their owner may read", async () => {
    const folder = fresh();
    const { id } = await take(directoryStore(folder));
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual([`${id}.db`, `${id}.json`]);
  });

  test("a run that is killed in the middle leaves nothing that can be seen, and the next one works", async () => {
    const folder = fresh();
    mkdirSync(folder, { recursive: true });
    const child = spawn(
      process.execPath,
      ["--import", import.meta.resolve("tsx"), resolve("test/engine/backup/endless-backup.ts"), folder],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    await new Promise((done) => child.stdout.once("data", done));
    expect(readdirSync(folder)).toHaveLength(1);
    child.kill("SIGKILL");
    await new Promise((done) => child.once("exit", done));
    const store = directoryStore(folder);
    expect(await store.list()).toEqual([]);
    const backup = await take(store);
    expect(await listBackups(store, "lab")).toEqual([backup]);
    await store.sweep(new Date(Date.now() + 25 * 3_600_000));
    expect(readdirSync(folder)).toEqual([`${backup.id}.db`, `${backup.id}.json`]);
  });

  test("a file that goes away while others are listed is not in the list", async () => {
    const folder = fresh();
    const { id } = await take(directoryStore(folder));
    symlinkSync("gone", join(folder, "a-file-on-its-way-out"));
    expect((await directoryStore(folder).list()).map(({ name }) => name)).toEqual([`${id}.db`, `${id}.json`]);
  });

  test("a place that is no folder is named, with what is wrong with it", async () => {
    const file = join(root, "a-file");
    writeFileSync(file, "");
    const store = directoryStore(file, "backups/lab");
    for (const work of [() => store.list(), () => store.scratch(), () => store.sweep(new Date())]) {
      await expect(work()).rejects.toMatchObject({
        name: "TalosError",
        code: "failed-precondition",
        message: expect.stringMatching(/^open backups\/lab: /),
      });
    }
  });

  const tiny = join(root, "tiny");
  const isTiny = mountTinyDisk(tiny);
  test.skipIf(!isTiny)("a full disk is told, and nothing half stays on it", async () => {
    const folder = join(tiny, "backups");
    await expect(take(directoryStore(folder))).rejects.toMatchObject({
      code: "failed-precondition",
      message: expect.stringContaining("no space left"),
    });
    expect(readdirSync(folder)).toEqual([]);
  });
  afterAll(() => {
    if (isTiny) unmountDisk(tiny);
  });
});
