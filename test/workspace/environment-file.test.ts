// SPDX-License-Identifier: Apache-2.0
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { loadEnvironment } from "../../model/index.ts";
import { firstReads, withNewVersions, withPoolCount } from "../../workspace/environment-file.ts";
import { openWorkspace, type Workspace } from "../../workspace/workspace.ts";
import { testContext } from "../support/command-context.ts";

const root = mkdtempSync(join(tmpdir(), "talosmith-texts-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const [own, base] = ["environments/lab.yaml", "environments/base.yaml"];
const before = [
  "# ours\nworkers: []\n",
  "infrastructure: { kind: simulated }\ncontrolPlane: {}\ncluster: { talosVersion: v1.13.8 }\n",
];
const after = [
  "# ours\nworkers: [{ count: 1 }]\n",
  "infrastructure: { kind: simulated }\ncontrolPlane: {}\ncluster: { talosVersion: v1.13.9 }\n",
];
const texts = new Map([own, base].map((file, index) => [file, after[index] ?? ""]));
const onDisk = () => [own, base].map((file) => readFileSync(join(root, file), "utf8"));
const open = () => openWorkspace("lab", testContext({ cwd: root, env: {} }));

beforeEach(() => {
  mkdirSync(join(root, "environments"), { recursive: true });
  writeFileSync(join(root, "cdktf.json"), "{}");
  for (const [index, file] of [own, base].entries()) writeFileSync(join(root, file), before[index] ?? "");
  chmodSync(join(root, own), 0o640);
});

describe("an environment with edits that are not approved yet", () => {
  const edited = () =>
    open().edited({ environment: loadEnvironment(root, "lab", texts), texts, before: firstReads(root) });

  test("is what the edits say, while everyone else finds the files as they were", () => {
    const workspace = edited();
    expect(workspace.environment.cluster.talosVersion).toBe("v1.13.9");
    expect([own, base].map(workspace.read)).toEqual(after);
    expect(onDisk()).toEqual(before);
    expect(open().environment.cluster.talosVersion).toBe("v1.13.8");
  });

  test("is in the files once it is saved, each with its mode", async () => {
    const workspace = edited();
    await workspace.save();
    expect(onDisk()).toEqual(after);
    expect(statSync(join(root, own)).mode & 0o777).toBe(0o640);
    expect(workspace.unsaved.size).toBe(0);
  });

  test.each([
    ["a version", own, (at: Workspace) => withNewVersions(root, at.environment, { talosVersion: "v1.13.9" })],
    [
      "a version in the base",
      base,
      (at: Workspace) => withNewVersions(root, at.environment, { talosVersion: "v1.13.9" }),
    ],
    ["a number of machines", own, (at: Workspace) => withPoolCount(root, at.environment, "w", 2)],
  ])("of %s does not overwrite what a person has written into %s since it was planned", async (_, file, edit) => {
    writeFileSync(join(root, own), "workers: [{ count: 1 }]\n");
    const workspace = open();
    const edited = workspace.edited(edit(workspace)).withoutKubernetes().until(workspace.context.signal);
    writeFileSync(join(root, file), `${readFileSync(join(root, file), "utf8")}# mine\n`);
    const now = onDisk();
    await expect(edited.save()).rejects.toMatchObject({
      message: `${file} has changed since this was planned`,
      hint: "Nothing was changed. Run the same command again.",
    });
    expect(onDisk()).toEqual(now);
  });

  test("writes nothing where nothing changes, and nothing twice", async () => {
    const plain = open();
    await plain.save();
    expect(onDisk()).toEqual(before);
    const workspace = edited();
    await workspace.save();
    writeFileSync(join(root, own), before[0] ?? "");
    await workspace.save();
    expect(onDisk()[0]).toBe(before[0]);
  });
});
