// SPDX-License-Identifier: Apache-2.0
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { syncFolder, writeFileAtomically } from "../../talos/atomic-file.ts";

describe("an atomic write", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "talosmith-atomic-"));
  });
  afterEach(() => {
    vi.restoreAllMocks();
    rmSync(folder, { recursive: true, force: true });
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

  /** Links at `secret`; the file that is meant is `far/kept`. */
  const links: readonly (readonly [string, () => void])[] = [
    ["relative", () => symlinkSync("far/kept", join(folder, "secret"))],
    ["absolute", () => symlinkSync(join(folder, "far/kept"), join(folder, "secret"))],
    [
      "through another link",
      () => {
        symlinkSync("../far/kept", join(folder, "near/hop"));
        symlinkSync("near/hop", join(folder, "secret"));
      },
    ],
    [
      "through a folder that is a link",
      () => {
        symlinkSync(join(folder, "far/deep"), join(folder, "near/deep"));
        symlinkSync("near/deep/../kept", join(folder, "secret"));
      },
    ],
  ];

  describe.each(links)("at a link (%s)", (_, make) => {
    const secret = () => join(folder, "secret");
    const kept = () => join(folder, "far/kept");
    beforeEach(() => {
      for (const name of ["near", "far", "far/deep"]) mkdirSync(join(folder, name));
      make();
    });

    test.each([false, true])("writes the file that is still to be made (exclusive: %s)", async (exclusive) => {
      await writeFileAtomically(secret(), "new", { exclusive });
      expect(lstatSync(secret()).isSymbolicLink()).toBe(true);
      expect(lstatSync(kept()).isFile()).toBe(true);
      expect([readFileSync(kept(), "utf8"), statSync(kept()).mode & 0o777]).toEqual(["new", 0o600]);
      expect(readdirSync(folder).sort()).toEqual(["far", "near", "secret"]);
      expect(readdirSync(join(folder, "far")).sort()).toEqual(["deep", "kept"]);
    });

    test("writes nothing where links are refused, as in a folder that others write to", async () => {
      const refused = writeFileAtomically(secret(), "new", { exclusive: true, links: "refuse" });
      await expect(refused).rejects.toMatchObject({ code: "EEXIST" });
      expect(existsSync(kept())).toBe(false);
      expect(readdirSync(folder).sort()).toEqual(["far", "near", "secret"]);
    });

    test("replaces the file and keeps the link", async () => {
      writeFileSync(kept(), "old", { mode: 0o600 });
      const before = readlinkSync(secret());
      await writeFileAtomically(secret(), "new");
      expect([readlinkSync(secret()), readFileSync(kept(), "utf8")]).toEqual([before, "new"]);
      expect(statSync(kept()).mode & 0o777).toBe(0o600);
    });

    test("refuses to replace when it must be the first", async () => {
      writeFileSync(kept(), "old");
      const refused = writeFileAtomically(secret(), "new", { exclusive: true });
      await expect(refused).rejects.toMatchObject({ code: "EEXIST" });
      expect(readFileSync(kept(), "utf8")).toBe("old");
    });
  });

  const elsewhere = "/dev/shm";
  test.skipIf(statSync(elsewhere, { throwIfNoEntry: false })?.dev === statSync(tmpdir()).dev)(
    "a link to another file system is written through",
    async () => {
      const other = mkdtempSync(join(elsewhere, "talosmith-atomic-"));
      try {
        symlinkSync(join(other, "kept"), join(folder, "secret"));
        await writeFileAtomically(join(folder, "secret"), "one");
        await writeFileAtomically(join(folder, "secret"), "two");
        expect(lstatSync(join(folder, "secret")).isSymbolicLink()).toBe(true);
        expect([readdirSync(other), readFileSync(join(other, "kept"), "utf8")]).toEqual([["kept"], "two"]);
      } finally {
        rmSync(other, { recursive: true });
      }
    },
  );

  test.each([
    ["secret", "too many symbolic links encountered"],
    ["sub", "illegal operation on a directory"],
    // A volume that is not mounted: nothing is made where it should be.
    ["volume/not/mounted", "no such file or directory"],
  ])("a link to %s is refused, and nothing is made", async (target, reason) => {
    mkdirSync(join(folder, "sub"));
    symlinkSync(target, join(folder, "secret"));
    const refused = writeFileAtomically(join(folder, "secret"), "new");
    await expect(refused).rejects.toThrow(`write ${join(folder, "secret")}: ${reason}`);
    expect(readdirSync(folder).sort()).toEqual(["secret", "sub"]);
    expect(readdirSync(join(folder, "sub"))).toEqual([]);
  });

  describe.skipIf(process.platform !== "linux")("on disk", () => {
    /** What is synced, in this order; `answer` may fail for a folder, as file systems do. */
    async function watchSyncs(answer: () => void = () => {}): Promise<string[]> {
      const synced: string[] = [];
      const probe = await open(folder, "r");
      const prototype = Object.getPrototypeOf(probe) as { sync(this: { readonly fd: number }): Promise<void> };
      await probe.close();
      const real = prototype.sync;
      vi.spyOn(prototype, "sync").mockImplementation(async function (this: { readonly fd: number }) {
        const path = readlinkSync(`/proc/self/fd/${this.fd}`);
        synced.push(path.replace(/\.[0-9a-f]{12}\.tmp$/, ".tmp"));
        if (statSync(path).isDirectory()) answer();
        return real.call(this);
      });
      return synced;
    }
    const failing = (code: string) => () => {
      throw Object.assign(new Error(`${code}: it failed, fsync`), { code, syscall: "fsync" });
    };

    test.each([false, true])("the file, then its name, then nothing more (exclusive: %s)", async (exclusive) => {
      const synced = await watchSyncs();
      await writeFileAtomically(join(folder, "file"), "new", { exclusive });
      expect(synced).toEqual([join(folder, ".file.tmp"), folder]);
    });

    test("so are the names of folders that are made for it", async () => {
      const synced = await watchSyncs();
      await writeFileAtomically(join(folder, "a/b/file"), "new");
      expect(synced).toEqual([folder, join(folder, "a"), join(folder, "a/b/.file.tmp"), join(folder, "a/b")]);
    });

    test("behind a link, the folder that holds the file", async () => {
      mkdirSync(join(folder, "far"));
      symlinkSync("far/kept", join(folder, "secret"));
      const synced = await watchSyncs();
      await writeFileAtomically(join(folder, "secret"), "new");
      expect(synced).toEqual([join(folder, "far/.kept.tmp"), join(folder, "far")]);
    });

    test.each(["EINVAL", "ENOTSUP"])("a file system that has no sync for folders (%s) is no error", async (code) => {
      await watchSyncs(failing(code));
      await writeFileAtomically(join(folder, "file"), "new");
      expect(readFileSync(join(folder, "file"), "utf8")).toBe("new");
    });

    test.each(["EIO", "ENOSPC"])("a folder that cannot be written (%s) is an error", async (code) => {
      await watchSyncs(failing(code));
      await expect(writeFileAtomically(join(folder, "file"), "new")).rejects.toThrow(
        `write ${join(folder, "file")}: it failed`,
      );
    });

    test("a folder that is gone is an error, too", async () => {
      await expect(syncFolder(join(folder, "gone"))).rejects.toMatchObject({ code: "ENOENT" });
    });
  });
});
