// SPDX-License-Identifier: Apache-2.0
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

/**
 * Calls that make or replace a file. A half-written file, a link that was replaced by a file and a name that was lost in
 * a power failure are found and mended in one place only: talos/atomic-file.ts.
 */
const writers =
  "writeFile|rename|copyFile|cp|link|symlink|appendFile|truncate|createWriteStream|open|writeSync|writevSync";
const isWriter = new RegExp(`^(?:${writers})(?:Sync)?$`);

/** Everything else that writes, and why that is not a file that people keep. */
const others: Readonly<Record<string, string>> = {
  "workspace/terraform/run-events.ts": "events of one run, line by line",
  "workspace/terraform/recorded-spec.ts": "a temporary folder",
  "constructs/write-whole.ts": "cdktf.out: whole files by the CDK, synchronously, moved into place",
  "provider/package.ts": "a package in cdktf.out, moved into place as a folder",
  "provider/packaging/bundle.ts": "files of a package that is being built",
  "provider/packaging/install.ts": "a package, moved into place as a folder",
  "provider/protocol/hclog.ts": "standard error",
  "provider/protocol/transport/listen.ts": "standard output",
  "provider/packaging/release.ts": "files of a package that is being built",
  "simulator/control/daemon-process.ts": "a log",
  "simulator/operations/snapshot-shelf.ts": "uploads to simulated machines, as streams",
  "engine/addon/apply.ts": "a temporary folder",
  "engine/backup/backups.ts": "a snapshot that was streamed and checked, given its name",
  "engine/backup/open-store.ts": "a snapshot that was streamed and synced, given its name and synced by syncFolder",
  "engine/backup/scratch-file.ts": "a stream into a new file",
  "engine/backup/snapshot-status.ts": "reads only",
  "engine/events.ts": "events of one run, line by line",
  "engine/execute/journal.ts": "line by line, each synced",
  "talos/image/download.ts": "a cache, as a stream",
  "talos/image/fetch-image.ts": "a cache, as a stream",
  "workspace/terraform/prepare-stack.ts": "moves a whole stack inside of a folder of its own",
};

function writersOf(source: string): string[] {
  const imports = source.matchAll(/^import\s+(?!type\b)([^"';]+?)\s+from\s+"node:fs(?:\/promises)?"/gm);
  return [...imports].flatMap(([, names = ""]) => {
    const listed = /^\{([^}]*)\}$/.exec(names.trim())?.[1];
    // A namespace or a default import hides what is called.
    if (listed === undefined) return [names];
    const called = listed.split(",").map((name) => name.trim().split(/\s+as\s+/)[0] ?? "");
    return called.filter((name) => isWriter.test(name));
  });
}

const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "*.ts"])
  .toString()
  .split("\n")
  .filter((file) => existsSync(file) && !/^(test|scripts|examples|site|mutation)\/|^vitest\.config\.ts$/.test(file));

describe("files are written", () => {
  const found = files.filter((file) => writersOf(readFileSync(file, "utf8")).length > 0);

  test("by talos/atomic-file.ts, or in a place that says why not", () => {
    expect(found.filter((file) => !(file in others))).toEqual(["talos/atomic-file.ts"]);
  });

  test("and no exception is left of a file that writes no more", () => {
    expect(Object.keys(others).filter((file) => !found.includes(file))).toEqual([]);
  });

  test("into temporary folders that are named after their process: the next one removes what a killed one has left", () => {
    const makers = files.filter((file) => /\bmkdtemp(Sync)?\b/.test(readFileSync(file, "utf8")));
    expect(makers).toEqual(["talos/process-folder.ts"]);
  });

  test.each([
    ['import { readFile, rm } from "node:fs/promises";', []],
    ['import {\n  readFile,\n  writeFile as put,\n} from "node:fs/promises";', ["writeFile"]],
    ['import { renameSync } from "node:fs";', ["renameSync"]],
    ['import * as fs from "node:fs";', ["* as fs"]],
    ['import fs, { rm } from "node:fs";\nfs.writeFileSync("x", "");', ["fs, { rm }"]],
    ['import { rename } from "./rename.ts";', []],
    ['import type { FileHandle } from "node:fs/promises";', []],
  ])("%j counts as %j", (source, expected) => {
    expect(writersOf(source)).toEqual(expected);
  });
});
