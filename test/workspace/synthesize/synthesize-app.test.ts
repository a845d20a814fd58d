// SPDX-License-Identifier: Apache-2.0
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { App, AssetType, TerraformAsset, TerraformOutput, TerraformStack } from "cdktn";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { synthesizeApp } from "../../../workspace/synthesize/synthesize-project.ts";
import { mayMount, mountTinyDisk, unmountDisk } from "../../support/tiny-disk.ts";

let root: string;
let outdir: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "talosmith-app-"));
  outdir = join(root, "cdktf.out");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const file = (name: string) => join(outdir, "stacks", name, "cdk.tf.json");
const mottoOf = (name: string) => JSON.parse(readFileSync(file(name), "utf8")).output.motto.value;

/** An app of two stacks with the same output. */
function appWith(motto: string): { app: App; stacks: readonly TerraformStack[] } {
  const app = new App({ outdir, stackTraces: false });
  const stacks = ["a", "b"].map((name) => new TerraformStack(app, name));
  for (const stack of stacks) void new TerraformOutput(stack, "motto", { value: motto });
  return { app, stacks };
}

const canFill = mayMount();
if (!canFill) console.warn("SKIPPED: a full disk while an app is synthesized: this user may not mount one");

describe("an app of one's own", () => {
  test("is written with its assets, and says where it is as before", async () => {
    writeFileSync(join(root, "notes.txt"), "notes");
    const { app, stacks } = appWith("one");
    const [first] = stacks;
    if (first !== undefined)
      new TerraformAsset(first, "notes", { path: join(root, "notes.txt"), type: AssetType.FILE });
    await synthesizeApp(app, root);
    expect([mottoOf("a"), mottoOf("b")]).toEqual(["one", "one"]);
    expect([app.outdir, app.manifest.outdir]).toEqual([outdir, outdir]);
    const assets = readdirSync(join(outdir, "stacks/a/assets"), { recursive: true }).map(String);
    expect(assets.some((name) => name.endsWith("notes.txt"))).toBe(true);
    expect(Object.keys(JSON.parse(readFileSync(join(outdir, "manifest.json"), "utf8")).stacks)).toEqual(["a", "b"]);
    expect(existsSync(join(outdir, "stacks/b/.terraform.lock.hcl"))).toBe(true);
    expect(readdirSync(outdir).sort()).toEqual(["manifest.json", "stacks"]);
  });

  test("stays as it was when one of its stacks cannot be written", async () => {
    await synthesizeApp(appWith("one").app, root);
    const { app, stacks } = appWith("two");
    stacks[1]?.node.addValidation({ validate: () => ["not today"] });
    await expect(synthesizeApp(app, root)).rejects.toThrow("not today");
    expect([mottoOf("a"), mottoOf("b")]).toEqual(["one", "one"]);
    expect(readdirSync(outdir).sort()).toEqual(["manifest.json", "stacks"]);
  });

  test.skipIf(!canFill)("stays as it was when the disk is full", async () => {
    mkdirSync(outdir);
    mountTinyDisk(outdir);
    try {
      const { app } = appWith("one");
      app.node.tryRemoveChild("b");
      // What is laid beside a stack would not fit.
      await synthesizeApp(app, root).catch(() => undefined);
      rmSync(join(outdir, "stacks/a/terraform.d"), { recursive: true, force: true });
      expect(mottoOf("a")).toBe("one");
      const larger = new App({ outdir, stackTraces: false });
      void new TerraformOutput(new TerraformStack(larger, "a"), "motto", { value: "x".repeat(200_000) });
      await expect(synthesizeApp(larger, root)).rejects.toThrow(`write ${file("a")}: no space left on device`);
      expect(mottoOf("a")).toBe("one");
    } finally {
      unmountDisk(outdir);
    }
  });
});
