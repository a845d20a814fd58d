// SPDX-License-Identifier: Apache-2.0
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { saveTexts } from "../../workspace/environment-file.ts";
import {
  finishMigration,
  holdingMigrations,
  refuseUnfinishedMigration,
  saveMigration,
} from "../../workspace/migration-journal.ts";

const before = {
  "environments/lab.yaml": "contract: old\n",
  "patches/a.yaml": "a: old\n",
  "patches/b.yaml": "b: old\n",
};
const after = new Map([
  ["patches/a.yaml", "a: new\n"],
  ["patches/b.yaml", "b: new\n"],
  ["environments/lab.yaml", "contract: new\n"],
]);
const migration = { environment: "lab", to: "v1.14", texts: after };

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "talosmith-journal-"));
  for (const folder of ["environments", "patches"]) mkdirSync(join(root, folder));
  for (const [file, text] of Object.entries(before)) writeFileSync(join(root, file), text);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const textOf = (file: string) => readFileSync(join(root, file), "utf8");
const texts = () => new Map([...after.keys()].map((file) => [file, textOf(file)]));
const journal = () => join(root, "state/migration.json");

/** Fails instead of the write with this number, as a process that is killed there. */
const killedBefore = (write: number): typeof saveTexts => {
  let done = 0;
  return async (folder, some) => {
    if (done++ === write) throw new Error("killed");
    await saveTexts(folder, some);
  };
};

describe("a migration of several files", () => {
  test("leaves no journal behind", async () => {
    await saveMigration(root, migration);
    expect(texts()).toEqual(after);
    expect(existsSync(join(root, "state"))).toBe(false);
    expect(await finishMigration(root)).toBeUndefined();
  });

  test.each([0, 1, 2, 3])(
    "that is killed before write %i is refused elsewhere, and finished by the next run",
    async (write) => {
      await saveMigration(root, migration, killedBefore(write)).catch((error: Error) =>
        expect(error.message).toBe("killed"),
      );
      // After the last write only the journal is left.
      if (write < 3) {
        expect(statSync(journal()).mode & 0o777).toBe(0o600);
        expect(() => refuseUnfinishedMigration(root)).toThrow(/migration of lab to v1\.14 was interrupted/);
        expect(await finishMigration(root)).toEqual({ environment: "lab", to: "v1.14", files: [...after.keys()] });
      }
      expect(texts()).toEqual(after);
      expect(existsSync(journal())).toBe(false);
      expect(() => refuseUnfinishedMigration(root)).not.toThrow();
    },
  );

  test("is finished also when the journal is all that was written, or all but its removal was done", async () => {
    await saveMigration(root, migration, killedBefore(0)).catch(() => {});
    await saveTexts(root, after);
    expect(await finishMigration(root)).toMatchObject({ environment: "lab" });
    expect(texts()).toEqual(after);
  });

  test("does not overwrite a file that somebody has changed meanwhile", async () => {
    await saveMigration(root, migration, killedBefore(1)).catch(() => {});
    writeFileSync(join(root, "patches/b.yaml"), "b: other\n");
    await expect(finishMigration(root)).rejects.toThrow(/patches\/b\.yaml was changed after the migration/);
    expect(textOf("patches/b.yaml")).toBe("b: other\n");
    expect(textOf("environments/lab.yaml")).toBe("contract: old\n");
  });

  test("refuses a second one at the same time", async () => {
    const first = holdingMigrations(root, async () => {
      await expect(holdingMigrations(root, async () => "second")).rejects.toThrow(
        /another config migrate runs in this project: process \d+/,
      );
      return "first";
    });
    expect(await first).toBe("first");
    expect(await holdingMigrations(root, async () => "third")).toBe("third");
    expect(existsSync(join(root, "state"))).toBe(false);
  });
});
