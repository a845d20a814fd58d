// SPDX-License-Identifier: Apache-2.0
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { withSavedTexts } from "../../workspace/environment-file.ts";

const root = mkdtempSync(join(tmpdir(), "talosmith-texts-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const [own, base] = ["environments/lab.yaml", "environments/base.yaml"];
const before = ["# ours\nworkers: []\n", "cluster: { talosVersion: v1.13.8 }\n"];
const after = ["# ours\nworkers: [{ count: 1 }]\n", "cluster: { talosVersion: v1.13.9 }\n"];
const texts = new Map([own, base].map((file, index) => [file, after[index] ?? ""]));
const onDisk = () => [own, base].map((file) => readFileSync(join(root, file), "utf8"));

beforeEach(() => {
  mkdirSync(join(root, "environments"), { recursive: true });
  for (const [index, file] of [own, base].entries()) writeFileSync(join(root, file), before[index] ?? "");
  chmodSync(join(root, own), 0o640);
});

describe("texts in files while work lasts", () => {
  test("are there during the work, and stay when it keeps them", async () => {
    const seen = await withSavedTexts(root, texts, async (keep) => {
      keep();
      return onDisk();
    });
    expect(seen).toEqual(after);
    expect(onDisk()).toEqual(after);
    expect(statSync(join(root, own)).mode & 0o777).toBe(0o640);
  });

  test("are there during the work, and the files are as before when it keeps nothing", async () => {
    expect(await withSavedTexts(root, texts, async () => onDisk())).toEqual(after);
    expect(onDisk()).toEqual(before);
    expect(statSync(join(root, own)).mode & 0o777).toBe(0o640);
  });

  test.each([
    [true, after],
    [false, before],
  ])("when the work throws, kept is %s", async (isKept, expected) => {
    const failing = withSavedTexts(root, texts, async (keep) => {
      if (isKept) keep();
      throw new Error("no machine");
    });
    await expect(failing).rejects.toThrow("no machine");
    expect(onDisk()).toEqual(expected);
  });

  test("nothing is written where nothing changes", async () => {
    chmodSync(join(root, own), 0o440);
    const { mtimeMs } = statSync(join(root, own));
    await withSavedTexts(root, new Map(), async () => undefined);
    expect(statSync(join(root, own)).mtimeMs).toBe(mtimeMs);
  });
});
