// SPDX-License-Identifier: Apache-2.0
import { mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { writeFileAtomically } from "../../talos/atomic-file.ts";

describe("an atomic write", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "talosmith-atomic-"));
  });

  test("makes missing folders and keeps the file to its owner", async () => {
    const path = join(folder, "a/b/secret");
    await writeFileAtomically(path, "hush");
    expect(readFileSync(path, "utf8")).toBe("hush");
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test("replaces the old content and leaves nothing beside it", async () => {
    const path = join(folder, "file");
    writeFileSync(path, "old", { mode: 0o644 });
    await writeFileAtomically(path, "new");
    expect(readFileSync(path, "utf8")).toBe("new");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(["file"]);
  });

  test("refuses to replace when it must be the first, and loses nothing", async () => {
    const path = join(folder, "file");
    writeFileSync(path, "old");
    await expect(writeFileAtomically(path, "new", { exclusive: true })).rejects.toMatchObject({ code: "EEXIST" });
    expect(readFileSync(path, "utf8")).toBe("old");
    expect(readdirSync(folder)).toEqual(["file"]);
  });

  test("of many first writers at once exactly one wins, whole", async () => {
    const path = join(folder, "file");
    const writers = Array.from({ length: 20 }, (_, i) => String(i).repeat(50_000));
    const results = await Promise.allSettled(
      writers.map((text) => writeFileAtomically(path, text, { exclusive: true })),
    );
    const winners = results.flatMap((result, i) => (result.status === "fulfilled" ? [writers[i]] : []));
    expect(winners).toHaveLength(1);
    expect(readFileSync(path, "utf8")).toBe(winners[0]);
  });

  test.skipIf(process.platform !== "linux")(
    "says so where no folder can be made, and does not try for ever",
    async () => {
      await expect(writeFileAtomically("/proc/no/such/file", "new")).rejects.toThrow(
        "write /proc/no/such/file: no such file or directory",
      );
    },
  );

  test("a write that fails leaves the old file and no rest", async () => {
    const path = join(folder, "file");
    writeFileSync(path, "old");
    await expect(writeFileAtomically(join(path, "below"), "new")).rejects.toThrow(
      expect.objectContaining({ message: `write ${join(path, "below")}: not a directory` }),
    );
    expect(readdirSync(folder)).toEqual(["file"]);
  });
});
